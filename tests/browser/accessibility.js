/* What an automatic check can find out about a page's accessibility; returns the problems as strings. */
() => {
  const problems = [];
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const pen = canvas.getContext("2d", { willReadFrequently: true });

  const rgba = (colour) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => top.slice(0, 3).map((value, i) => value * top[3] + below[i] * (1 - top[3]));
  const luminance = (colour) => {
    const [r, g, b] = colour.map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const isShown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const name = (element) => {
    const label = element.getAttribute("aria-label") || (element.getAttribute("aria-labelledby") || "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
    const own = label || [...(element.labels ?? [])].map((each) => each.textContent).join(" ") || element.textContent || element.title;
    return own.trim();
  };
  const where = (element) => `${element.tagName.toLowerCase()}${element.className && typeof element.className === "string" ? `.${element.className.trim().split(/\s+/).join(".")}` : ""} “${element.textContent.trim().slice(0, 30)}”`;

  // Contrast of every visible text
  const seen = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(element) || !isShown(element)) continue;
    seen.add(element);
    if (element.closest(":disabled, .sr, option, script, noscript")) continue;
    const style = getComputedStyle(element);
    const below = ground(element);
    const text = over(rgba(style.color), below);
    const [light, dark] = [luminance(text), luminance(below)].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) problems.push(`contrast ${ratio.toFixed(2)}: ${where(element)}`);
  }

  // Names, sizes, structure
  for (const element of document.querySelectorAll("button, a[href], input, select, textarea, [role=option], [role=combobox], [role=region], dialog, nav, aside")) {
    if (!isShown(element)) continue;
    if (!name(element)) problems.push(`without a name: ${where(element)}`);
    const box = element.getBoundingClientRect();
    const control = element.matches("button, input, select, textarea, [role=option]") && !element.closest(".sr") && !element.classList.contains("sr");
    if (control && !element.matches("[type=checkbox], [type=radio]") && (box.width < 24 || box.height < 24)) problems.push(`smaller than 24 pixels: ${where(element)}`);
    if (element.tabIndex > 0) problems.push(`positive tabindex: ${where(element)}`);
  }
  for (const image of document.querySelectorAll("img:not([alt]), svg[role=img]:not([aria-label])")) problems.push(`without a text: ${where(image)}`);
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  for (const id of new Set(ids.filter((each, index) => ids.indexOf(each) !== index))) problems.push(`id twice: ${id}`);
  if (document.querySelectorAll("main h1").length !== 1) problems.push(`${document.querySelectorAll("main h1").length} main headings`);
  if (!document.documentElement.lang || !document.title) problems.push("without a language or a title");
  for (const element of document.querySelectorAll("[aria-controls], [aria-describedby]")) {
    for (const id of `${element.getAttribute("aria-controls") ?? ""} ${element.getAttribute("aria-describedby") ?? ""}`.trim().split(/\s+/)) {
      if (!document.getElementById(id)) problems.push(`points at nothing (${id}): ${where(element)}`);
    }
  }
  return problems;
};
