import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { defineConfig, type DefaultTheme } from 'vitepress'

const repository = 'https://github.com/kubectl-kinetic/kinetic'
const vue = resolve(import.meta.dirname, '../node_modules/vue')
const docs = resolve(import.meta.dirname, '../../../docs')

/** The contents, docs/README.md, as a sidebar: a bold line begins a group, an item of a list is a page. */
function sidebar(): DefaultTheme.SidebarItem[] {
  const groups: DefaultTheme.SidebarItem[] = []
  for (const line of readFileSync(resolve(docs, 'README.md'), 'utf8').split('\n')) {
    const group = line.match(/^\*\*(.+)\*\*$/)
    const page = line.match(/^- \[(.+?)\]\((.+?)\.md\)/)
    if (group) groups.push({ text: group[1], items: [], collapsed: false })
    if (page) groups.at(-1)!.items!.push({ text: page[1].replaceAll('`', ''), link: `/${page[2]}` })
  }
  return groups
}

/** The anchor of a heading as GitHub makes it: pages are read there, too. */
function anchor(heading: string): string {
  return heading.trim().toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')
}

/** The address of a link: what is outside of docs/ is shown by GitHub. */
function address(href: string, page: string): string {
  if (/^[a-z]+:|^#|^\//.test(href)) return href
  const from = page === 'index.md' ? 'README.md' : page
  const path = new URL(href, `file:///docs/${from}`).pathname
  return path.startsWith('/docs/') ? href.replace(/(^|\/)README\.md/, '$1index.md') : `${repository}/blob/main${path}`
}

export default defineConfig({
  title: 'Kinetic for kubectl',
  description: 'Run Python functions on the TPUs and GPUs of your Kubernetes cluster',
  srcDir: docs,
  outDir: resolve(import.meta.dirname, '../../../dist/docs'),
  rewrites: { 'README.md': 'index.md' },
  cacheDir: resolve(import.meta.dirname, '../node_modules/.cache/vitepress'),
  vite: {
    // The pages are not below this directory, where Vue is installed.
    resolve: {
      alias: [
        { find: /^vue$/, replacement: resolve(vue, 'dist/vue.runtime.esm-bundler.js') },
        { find: /^vue\/server-renderer$/, replacement: resolve(vue, 'server-renderer/index.mjs') },
      ],
    },
    build: { chunkSizeWarningLimit: 2000 }, // the index of the search
  },
  markdown: {
    anchor: { slugify: anchor },
    config(md) {
      md.core.ruler.push('outside', (state) => {
        for (const block of state.tokens)
          for (const token of block.children ?? [])
            if (token.type === 'link_open') token.attrSet('href', address(token.attrGet('href')!, state.env.relativePath))
      })
      const fence = md.renderer.rules.fence!
      md.renderer.rules.fence = (tokens, index, ...rest) =>
        tokens[index].info === 'mermaid' ? `<Diagram text="${encodeURIComponent(tokens[index].content)}" />` : fence(tokens, index, ...rest)
    },
  },
  themeConfig: {
    sidebar: sidebar(),
    nav: [
      { text: 'First job', link: '/first-job' },
      { text: 'Python', link: '/python' },
      { text: 'Commands', link: '/reference' },
      { text: 'GitHub', link: repository },
    ],
    outline: { level: [2, 3] },
    search: { provider: 'local' },
    editLink: { pattern: `${repository}/edit/main/docs/:path` },
  },
})
