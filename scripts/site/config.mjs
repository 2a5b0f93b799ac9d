// The site of the documents, made by scripts/site.sh: README is its first page, every other keeps its path.

import { readdirSync, readFileSync } from 'node:fs';

const page = (text, name) => ({ text, link: `/docs/${name}` });
const part = (text, ...items) => ({ text, items });

// decisions are the pages of docs/adr by their titles.
const decisions = () => {
  const folder = new URL('../docs/adr/', import.meta.url);
  return readdirSync(folder).sort().map((name) => page(readFileSync(new URL(name, folder), 'utf8').match(/^# (.*)$/m)[1], `adr/${name.replace(/\.md$/, '')}`));
};

// endpoints are the pages that scripts/reference wrote for an API, by method and path.
const endpoints = (api) => {
  const folder = new URL(`../docs/${api}/`, import.meta.url);
  return readdirSync(folder).map((name) => page(readFileSync(new URL(name, folder), 'utf8').match(/^# (.*)$/m)[1], `${api}/${name.replace(/\.md$/, '')}`))
    .sort((a, b) => (a.text.split(' ')[1] < b.text.split(' ')[1] ? -1 : 1));
};

const sidebar = [
  part('Quick start', { text: 'What it is', link: '/' }, page('Quick start', 'quick-start')),
  part('Wallet author', page('Overview', 'wallet-author'), page('Gateway API', 'gateway-api'), page('What wallets send', 'gateway-clients'),
    { text: 'Endpoints', collapsed: true, items: endpoints('gateway-api') }),
  part('Operator', page('Overview', 'operations'), page('Install', 'operations/install'), page('Configure', 'operations/configure'), page('Several daemons', 'operations/several-daemons'), page('Scaling', 'scaling'), page('Fund', 'operations/fund'), page('Bitcoin and Litecoin', 'bitcoin'),
    page('Daily work', 'operations/daily'), page('Held transfers', 'operations/held'), page('Limits and approvals', 'operations/limits'), page('Keys', 'operations/keys'),
    page('Backup', 'operations/backup'), page('Upgrade', 'operations/upgrade'), page('Recovery', 'operations/recovery'), page('Monitoring', 'operations/monitoring'),
    page('Exchange API', 'operations/exchange-api'), page('Troubleshooting', 'operations/troubleshooting'), page('Configuration', 'operations/configuration'),
    { text: 'Runbooks', collapsed: true, items: [page('All alerts', 'operations/alerts'), page('Processes', 'operations/alerts/processes'), page('Nodes', 'operations/alerts/nodes'),
      page('Halted chain', 'operations/alerts/halted-chain'), page('Accounts', 'operations/alerts/accounts'), page('Funds', 'operations/alerts/funds'),
      page('Late payments', 'operations/alerts/payments'), page('Held payments', 'operations/alerts/held'), page('Channels', 'operations/alerts/channels')] },
    page('Custody', 'custody'), page('Checks of the signer', 'signer-checks'), page('Console API', 'console'), page('Embedded chain', 'exchange-chain'), page('Genesis', 'genesis'), page('Wallet RPC', 'wallet-rpc'),
    page('Releases', 'release'), { text: 'Changes', link: '/CHANGELOG' }, { text: 'Security', link: '/SECURITY' }),
  part('Trader', page('Overview', 'trader'), page('Exchange API', 'exchange-api'), page('Pushes', 'exchange-pushes'), { text: 'Endpoints', collapsed: true, items: endpoints('exchange-api') }),
  part('Developer', page('Overview', 'developer'), { text: 'Contributing', link: '/CONTRIBUTING' }, page('Architecture', 'architecture'), page('Payment rules', 'payment-rules'),
    page('Records', 'records'), page('Glossary', 'glossary'), page('Rules: engine', 'exchange-rules'), page('Rules: REST', 'exchange-rest'), page('Exchange chain on the wire', 'exchange-chain-wire'), page('Exchange chain: JSON-RPC', 'exchange-chain-rpc'),
    page('Differences: node', 'node-differences'), page('Differences: wallet', 'wallet-differences'), page('Performance', 'performance'), page('Mutation tests', 'mutation'),
    { text: 'Decisions', collapsed: true, items: decisions() }),
];

// anchor makes the name of a heading as GitHub does, so that links hold on both.
const anchor = (heading) => heading.trim().toLowerCase().replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');

// diagrams leaves mermaid's text to the theme, which draws it.
function diagrams(md) {
  const fence = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, i, ...rest) => (tokens[i].info.trim() === 'mermaid'
    ? `<pre class="mermaid" v-pre>${md.utils.escapeHtml(tokens[i].content)}</pre>` : fence(tokens, i, ...rest));
  md.renderer.rules.code_block = (tokens, i, ...rest) => fence(tokens, i, ...rest); // what is indented looks like what is fenced
}

export default {
  title: 'gatewayd',
  description: 'A gateway between Ethereum and the Vite exchange chain',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  rewrites: { 'README.md': 'index.md' },
  outDir: '../out',
  cacheDir: '../cache',
  markdown: { html: false, anchor: { slugify: anchor }, config: diagrams },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [page('Quick start', 'quick-start'), page('Wallet author', 'wallet-author'), page('Operator', 'operations'), page('Trader', 'trader'), page('Developer', 'developer')],
    sidebar,
  },
};
