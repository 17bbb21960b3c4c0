export function mount(main) { main.append("documents"); return { close() {} }; }
