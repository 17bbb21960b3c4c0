export function mount(main) { main.append("study"); return { close() {} }; }
