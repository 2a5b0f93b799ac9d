// The languages of the pages. A page has its messages as { en: {...}, zh: {...} }; those that all pages share are here.
import { remembered } from "./store.js";

const system = /^zh\b/i.test(globalThis.navigator?.language ?? "") ? "zh" : "en";

export const language = remembered("language", ["en", "zh"], system, "cookie");

export const shared = {
  en: {
    bridge: "Bridge", trade: "Trade", keys: "API keys", console: "Console", pages: "Pages", theme: "Theme", auto: "System", light: "Light", dark: "Dark",
    copy: "Copy", copied: "Copied.", cannotCopy: "Your browser does not allow copying. Select the text and copy it.",
    loading: "Loading…", again: "Try again", offline: "No answer from the server. The page tries again automatically.",
    tooMany: "Too many requests. The page tries again automatically.", broken: "The page has an error. Reload it.",
    demo: "Development environment: all keys are public, and funds have no value.", explorer: "Open in the explorer", utc: "UTC",
    sources: "Sources and licences", newer: "Newer", older: "Older", close: "Close", cancel: "Cancel", reference: "API", contact: "Contact", operatedBy: "Operated by {name}", terms: "Terms of use", noContact: "The operator has published no contact.", design: "Design", noValue: "no value",
    step_done: "done", step_now: "in progress", step_wait: "to come", step_warn: "needs attention", step_bad: "failed",
  },
  zh: {
    bridge: "跨链桥", trade: "交易", keys: "API 密钥", console: "控制台", pages: "页面", theme: "配色", auto: "跟随系统", light: "浅色", dark: "深色",
    copy: "复制", copied: "已复制。", cannotCopy: "浏览器不允许页面复制：请选中文字后自行复制。",
    loading: "加载中…", again: "重试", offline: "服务器没有响应，页面会自动重试。",
    tooMany: "请求过于频繁，页面稍后会重试。", broken: "页面出现问题，请重新加载。",
    demo: "开发环境：所有密钥都是公开的，这里没有真钱。", explorer: "在区块浏览器中打开", utc: "UTC",
    sources: "来源与许可证", newer: "较新", older: "较早", close: "关闭", cancel: "取消", reference: "API", contact: "联系方式", operatedBy: "运营方：{name}", terms: "使用条款", noContact: "运营方没有公布联系方式。", design: "组件", noValue: "暂无数值",
    step_done: "已完成", step_now: "进行中", step_wait: "未开始", step_warn: "需要处理", step_bad: "失败",
  },
};

// formatMessage puts values into a text: formatMessage("{n} of {m}", { n: 1, m: 2 }).
export function formatMessage(text, values = {}) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole)).replace(/([\u4e00-\u9fff]) (?=[\u4e00-\u9fff])/g, "$1"); // Chinese has spaces next to Latin letters only
}

// useMessages is a page's messages in the reader's language, with the shared ones beneath.
export function useMessages(own = { en: {}, zh: {} }) {
  const now = language.use();
  return { ...shared[now], ...own[now], language: now };
}
