import { onContentUpdated, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';

// draw makes pictures of a page's diagrams. Who reads without scripts sees their text.
async function draw() {
  const diagrams = document.querySelectorAll('pre.mermaid:not([data-processed])');
  if (diagrams.length === 0) return;
  const { default: mermaid } = await import(/* @vite-ignore */ withBase('/mermaid/mermaid.esm.min.mjs'));
  mermaid.initialize({ startOnLoad: false, theme: document.documentElement.classList.contains('dark') ? 'dark' : 'neutral' });
  await mermaid.run({ nodes: diagrams });
}

export default { extends: DefaultTheme, setup: () => onContentUpdated(draw) };
