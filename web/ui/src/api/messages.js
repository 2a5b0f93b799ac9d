// The messages of the reference page.
export const messages = {
  en: {
    title: "API reference", lead: "Every operation with examples, code in four languages, and requests to try on this server.", forPrograms: "For programs", other_exchange: "Exchange API", other_gateway: "Gateway API",
    inEnglish: "", privately: "**Private.** The request must be signed with an API key; “Test Request” does not sign it. [How to sign](#description/sign-a-request).",
    views: "Kinds of API", rest: "REST", websocket: "WebSocket", away: "The reference did not load. Reload the page.",
    topics: "Topics", topic: "Topic", pushed: "What is pushed", example: "Example", tryTopic: "Try",
    socketLead: "A WebSocket at {url} pushes changes as they happen. Subscribe to topics, then read the current state over REST. Send a ping every 10 seconds.",
    live: "Live console", liveLead: "This console connects to this server. It shows the newest 100 messages.",
    connect: "Connect", disconnect: "Disconnect", subscribe: "Subscribe", unsubscribe: "Unsubscribe from {topic}", subscriptions: "Subscriptions", none: "No subscriptions.",
    field_symbol: "Pair", field_token: "Quote token", field_address: "Address", field_interval: "Interval", field_category: "Category", field_step: "Decimals of prices",
    wrong_symbol: "Enter a pair as TRADE_QUOTE, for example VX_VITE.", wrong_token: "Enter a symbol in capitals, for example USDT-000.", wrong_address: "Enter an address: vite_ and 50 digits or letters a to f.",
    key: "API key", secret: "Secret", keyLead: "This topic needs a sign-in with an API key of the account. Key and secret stay in this page and are forgotten when you leave it.", keyWrong: "Enter the API key and its secret.",
    off: "Not connected", connecting: "Connecting", open: "Connected", lost: "Connection lost",
    log: "Messages", empty: "No messages yet.", emptyLead: "Connect, subscribe to a topic, and wait for a change.", pause: "Pause", resume: "Resume", clear: "Clear",
    kind_sent: "Sent", kind_push: "Push", kind_answer: "Answer", kind_fault: "Error",
    fault_1001: "Too many topics. Unsubscribe from some first.", fault_1002: "The server refused the request. Check its values.", fault_topic: "The server does not have this topic. Check the pair and the other values.",
    fault_signature: "The sign-in was refused. Check key and secret, and that the key is active. The topic was not requested.", fault_account: "The key belongs to another account. Use a key of this address.", howToSign: "How to sign, and errors", fault_1005: "The server has an error. Try again later.",
    closed_1001: "The server is restarting or has no current data. Connect again.", closed_1008: "This connection was too slow, or sent too much. Connect again with fewer topics.",
    closed_1012: "Messages were lost. Connect again and read the state over REST.", closed: "The connection ended. Check your network and connect again.",
  },
  zh: {
    title: "API 参考", lead: "所有接口及示例、四种语言的代码，并可在此服务器上试用请求。", forPrograms: "供程序使用", other_exchange: "交易所 API", other_gateway: "网关 API", inEnglish: "参考正文为英文。",
    privately: "**私有接口。**请求须用 API 密钥签名；“测试请求”不会签名。[如何签名](#description/sign-a-request)。",
    views: "API 种类", rest: "REST", websocket: "WebSocket", away: "参考文档未能加载，请重新加载页面。",
    topics: "主题", topic: "主题", pushed: "推送内容", example: "示例", tryTopic: "试用",
    socketLead: "位于 {url} 的 WebSocket 会实时推送变化。请先订阅主题，再通过 REST 读取当前状态，并每 10 秒发送一次 ping。",
    live: "实时控制台", liveLead: "此控制台连接本服务器，显示最新的 100 条消息。",
    connect: "连接", disconnect: "断开", subscribe: "订阅", unsubscribe: "取消订阅 {topic}", subscriptions: "订阅", none: "没有订阅。",
    field_symbol: "交易对", field_token: "计价代币", field_address: "地址", field_interval: "周期", field_category: "类别", field_step: "价格小数位",
    wrong_symbol: "请输入“交易币_计价币”形式的交易对，例如 VX_VITE。", wrong_token: "请输入大写代币符号，例如 USDT-000。", wrong_address: "请输入地址：vite_ 加 50 个数字或字母 a 到 f。",
    key: "API 密钥", secret: "私密密钥（Secret）", keyLead: "此主题需要用该账户的 API 密钥登录。密钥只保留在本页面中，离开后即清除。", keyWrong: "请输入 API 密钥及其私密密钥。",
    off: "未连接", connecting: "连接中", open: "已连接", lost: "连接已断开",
    log: "消息", empty: "还没有消息。", emptyLead: "请连接并订阅一个主题，然后等待变化。", pause: "暂停", resume: "继续", clear: "清空",
    kind_sent: "已发送", kind_push: "推送", kind_answer: "应答", kind_fault: "错误",
    fault_1001: "主题过多，请先取消一些订阅。", fault_1002: "服务器拒绝了请求。请检查所填的值。", fault_topic: "服务器没有此主题。请检查交易对及其他值。",
    fault_signature: "登录被拒绝。请检查密钥与私密密钥，并确认密钥有效。尚未请求该主题。", fault_account: "此密钥属于另一账户。请使用此地址的密钥。", howToSign: "如何签名，以及错误代码", fault_1005: "服务器出错，请稍后重试。",
    closed_1001: "服务器正在重启或没有最新数据，请重新连接。", closed_1008: "此连接过慢或发送过多，请减少主题后重新连接。",
    closed_1012: "有消息丢失，请重新连接并通过 REST 读取状态。", closed: "连接已结束。请检查网络后重新连接。",
  },
};

// summaries are the descriptions of topics in Chinese; the English ones are in the AsyncAPI document.
export const summaries = {
  "market.{symbol}.depth": "订单簿变化时推送完整订单簿，每侧最多 100 档。", "market.{symbol}.depth.step{step}": "按小数位合并价格的订单簿。",
  "market.{symbol}.depth.updates": "先推送完整订单簿，再推送带编号的变化。", "market.{symbol}.trade": "每笔成交。", "market.{symbol}.tickers": "交易对 24 小时数据变化时推送。",
  "market.quoteToken.{token}.tickers": "某计价代币所有交易对的 24 小时数据。", "market.quoteTokenCategory.{category}.tickers": "某计价类别所有交易对的 24 小时数据。",
  "market.{symbol}.kline.{interval}": "每笔成交后推送当前 K 线。", "order.{address}": "账户委托的每次变化。委托在链上公开，无须登录。", "account.{address}": "账户的委托与成交。须先用该账户的 API 密钥登录。",
};
