"""Where a request comes from: straight from this machine, through a proxy, or from elsewhere."""

from __future__ import annotations

import ipaddress

from starlette.datastructures import Headers
from starlette.types import Scope

FORWARDING = frozenset((
    "cdn-loop", "client-ip", "fastly-client-ip", "fly-client-ip", "forwarded", "true-client-ip", "via",
    "x-amzn-trace-id", "x-appengine-user-ip", "x-azure-clientip", "x-azure-ref", "x-client-ip", "x-cloud-trace-context",
    "x-cluster-client-ip", "x-envoy-external-address", "x-host", "x-nginx-proxy", "x-original-host", "x-original-url",
    "x-originating-ip", "x-proxyuser-ip", "x-real-ip", "x-remote-addr", "x-remote-ip", "x-scheme", "x-varnish",
))  # fmt: skip
"""Headers that proxies and tunnels add, besides those that begin with one of `PREFIXES`."""
PREFIXES = ("x-forwarded", "x-original-forwarded", "x-vercel-", "cf-", "tailscale-")


def is_loopback(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def is_straight(scope: Scope) -> bool:
    """Whether the request comes from a program on this machine, and not through a proxy.

    nginx without any settings adds no header, but speaks HTTP/1.0 to the server, as no browser does.
    """
    names = Headers(scope=scope).keys()
    forwarded = any(name in FORWARDING or name.startswith(PREFIXES) for name in names)
    return not forwarded and scope.get("http_version") != "1.0" and is_loopback(address_of(scope))


def address_of(scope: Scope) -> str:
    """The address that the request comes from, or "" if the system does not tell."""
    client = scope.get("client")
    return client[0] if client else ""


def network_of(address: str) -> str:
    """The address, or the network of an IPv6 address, because one machine may use any address in it."""
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(known) if known.version == 4 else str(ipaddress.ip_network((known, 64), strict=False))
