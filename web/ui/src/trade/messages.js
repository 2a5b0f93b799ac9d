// The trade page's messages.
export const messages = {
  en: {
    title: "Trade", pair: "Pair", last: "Last price", change: "24 hours", high: "High", low: "Low", volume: "Volume", noMarkets: "There are no markets yet.",
    live_open: "Live", live_waiting: "Connecting", live_broken: "Disconnected, reconnecting",
    candles: "Candles", interval: "Candle interval", i_minute: "1 min", i_minute30: "30 min", i_hour: "1 h", i_hour6: "6 h", i_day: "1 d", i_week: "1 w", attribution: "Charts by TradingView",
    noTrades: "No trades yet.", depth: "Depth", depthLabel: "Cumulative quantity of both sides at each price", book: "Order book", emptyBook: "The book is empty.",
    price: "Price", quantity: "Quantity", sum: "Sum", spread: "Spread", side_bid: "Bid at", side_ask: "Ask at", trades: "Trades", time: "Time",
    account: "Account", useDemo: "Use the demo account", leave: "Leave", ownKey: "Use your API key", address: "Account address", key: "API key", secret: "Secret", secretHint: "Stored only in this page's memory, and only used to sign.",
    open: "Open the account", getKey: "Get an API key", addressWrong: "An address has vite_ and 50 digits or letters a to f.", needsKey: "Open an account with an API key to place orders.", needsAccount: "Open an account to see its orders and balances.",
    order: "Order", side: "Side", buy: "Buy", sell: "Sell", share: "Share of available balance", total: "Total", digits: "{what}: enter a number above zero with at most {n} decimal places.", small: "The minimum order is {least} {symbol}.", poor: "Only {have} {symbol} are available.",
    placed: "Order sent.", cancelled: "Cancel sent.", balances: "Balances", nothing: "No balance on the exchange.", token: "Token", available: "Available", locked: "In orders",
    orders: "Orders", openOrders: "Open orders", orderHistory: "All orders", noOrders: "No orders.", cancel: "Cancel", cancelAll: "Cancel all of {pair}", filled: "Filled", state: "State", id: "Order id",
    status_0: "Unknown", status_1: "Sent", status_2: "Received", status_3: "Open", status_4: "Filled", status_5: "Partly filled", status_6: "Cancel sent", status_7: "Cancelled", status_8: "Partly filled, cancelled", status_9: "Failed", status_10: "Expired",
  },
  zh: {
    title: "交易", pair: "交易对", last: "最新价", change: "24 小时", high: "最高", low: "最低", volume: "成交额", noMarkets: "暂无市场。",
    live_open: "实时", live_waiting: "连接中", live_broken: "已断开，正在重连",
    candles: "K 线", interval: "K 线周期", i_minute: "1 分", i_minute30: "30 分", i_hour: "1 时", i_hour6: "6 时", i_day: "1 日", i_week: "1 周", attribution: "图表由 TradingView 提供",
    noTrades: "暂无成交。", depth: "深度", depthLabel: "买卖双方在各价位的累计数量", book: "订单簿", emptyBook: "订单簿为空。",
    price: "价格", quantity: "数量", sum: "累计", spread: "价差", side_bid: "买价", side_ask: "卖价", trades: "成交", time: "时间",
    account: "账户", useDemo: "使用演示账户", leave: "退出", ownKey: "使用您的 API 密钥", address: "账户地址", key: "API 密钥", secret: "密钥口令", secretHint: "只保存在本页面内存中，关闭即忘，仅用于签名。",
    open: "打开账户", getKey: "获取 API 密钥", addressWrong: "地址以 vite_ 开头，后接 50 位数字和字母 a 到 f。", needsKey: "下单需要用 API 密钥打开账户。", needsAccount: "打开账户后可查看委托与余额。",
    order: "下单", side: "方向", buy: "买入", sell: "卖出", share: "可用余额比例", total: "总额", digits: "{what}：请输入大于零的数字，小数点后最多 {n} 位。", small: "订单金额至少为 {least} {symbol}。", poor: "可用余额仅 {have} {symbol}。",
    placed: "订单已发送。", cancelled: "撤单已发送。", balances: "余额", nothing: "交易所内暂无资产。", token: "代币", available: "可用", locked: "委托中",
    orders: "委托", openOrders: "当前委托", orderHistory: "全部委托", noOrders: "暂无委托。", cancel: "撤单", cancelAll: "撤销 {pair} 全部委托", filled: "成交", state: "状态", id: "委托编号",
    status_0: "未知", status_1: "已发送", status_2: "已接收", status_3: "未成交", status_4: "已成交", status_5: "部分成交", status_6: "撤单已发送", status_7: "已撤销", status_8: "部分成交后撤销", status_9: "失败", status_10: "已过期",
  },
};
