'use strict';
// A trader's session on the exchange chain through the public client library: a token and a market of his own, deposits,
// orders of two accounts, a cancel, a permission and its end, fees and invitations, transfers and withdrawals. Prints what
// it saw as JSON; the Go test judges it.
//
// usage: node trader.js <path of @vite/vitejs> <node's URL> <mnemonic> <path index of the maker> <of the taker>

const [, , library, target, mnemonic, makerIndex, takerIndex] = process.argv;
const { ViteAPI, HTTP_RPC, wallet, account, constant } = require(library);

const vite = constant.Vite_TokenId;
const whole = n => `${ n }000000000000000000`;

// until polls for a condition; the chain moves by itself and the Go test bounds the whole session.
const until = async condition => {
    for (;;) {
        const value = await condition();
        if (value) return value;
        await new Promise(next => setTimeout(next, 20));
    }
};

const session = async () => {
    const api = await new Promise(resolve => {
        const client = new ViteAPI(new HTTP_RPC(target, 20000), () => setImmediate(() => resolve(client)));
    });
    const open = index => {
        const key = wallet.getWallet(mnemonic).deriveAddress(Number(index));
        return new account.Account(key.address).setPrivateKey(key.privateKey).setProvider(api);
    };
    const maker = open(makerIndex), taker = open(takerIndex);
    const block = hash => api.request('ledger_getAccountBlockByHash', hash);
    const failed = [];
    // done waits until the exchange has received a block, and notes one that it refused: the last byte says so.
    const done = async (name, made) => {
        const sent = await made.autoSend();
        const received = await until(async () => (await block(sent.hash)).receiveBlockHash);
        const verdict = Buffer.from((await block(received)).data || '', 'base64');
        if (verdict[32] !== 0) failed.push(name);
        return sent;
    };
    const funds = async (who, token) => {
        const all = await api.request('dex_getAccountBalanceInfo', who.address, null);
        const of = all[token] || {};
        return { available: of.available || '0', locked: of.locked || '0' };
    };

    const issue = await maker.issueToken({
        tokenName: 'Trader Token', tokenSymbol: 'TRAD', decimals: 18, isReIssuable: true, isOwnerBurnOnly: false,
        totalSupply: whole(1000), maxSupply: whole(2000)
    }).autoSend();
    const mint = await until(async () => (await api.request('ledger_getUnreceivedBlocksByAddress', maker.address, 0, 10))
        .find(b => b.fromAddress === constant.TokenIssuance_ContractAddress));
    await maker.receive({ sendBlockHash: mint.hash }).autoSend();
    const token = mint.tokenId;
    const pair = { tradeToken: token, quoteToken: vite };

    await done('deposit VITE', maker.dexDeposit({ tokenId: vite, amount: whole(20000) }));
    await done('deposit token', maker.dexDeposit({ tokenId: token, amount: whole(1000) }));
    await done('deposit of the taker', taker.dexDeposit({ tokenId: vite, amount: whole(5000) }));
    await done('open', maker.dexOpenNewMarket(pair));
    const market = await until(() => api.request('dex_getMarketInfo', token, vite).catch(() => null));

    const sell = await done('sell', maker.dexPlaceOrder({ ...pair, side: '1', price: '2.5', quantity: whole(100) }));
    const resting = await until(() => api.request('dex_getOrderByTransactionHash', sell.hash).catch(() => null));
    // As text the library would take the 0 for true: a sale.
    const buy = await done('buy', taker.dexPlaceOrder({ ...pair, side: 0, price: '3', quantity: whole(60) }));
    const book = await until(async () => {
        const list = await api.request('dextrade_getOrdersFromMarket', token, vite, true, 0, 10);
        return list.size === 1 && list.orders[0].ExecutedQuantity && list.orders;
    });
    await done('cancel', maker.dexCancelOrder({ orderId: book[0].Id }));
    const settled = await until(async () => {
        const of = await funds(maker, token);
        return of.locked === '0' && of;
    });
    const bought = await until(async () => {
        const of = await funds(taker, token);
        return of.available !== '0' && of;
    });

    await done('grant', maker.dexConfigMarketAgents({ actionType: '1', agent: taker.address, tradeTokens: [token], quoteTokens: [vite] }));
    const granted = await api.request('dex_isMarketDelegatedTo', maker.address, taker.address, token, vite);
    await done('revoke', maker.dexConfigMarketAgents({ actionType: '2', agent: taker.address, tradeTokens: [token], quoteTokens: [vite] }));
    const revoked = !await api.request('dex_isMarketDelegatedTo', maker.address, taker.address, token, vite);

    await done('new inviter', maker.dexCreateNewInviter());
    const code = await api.request('dex_getInviteCode', maker.address);
    await done('invited', taker.dexBindInviteCode({ code: String(code) }));
    await done('transfer', maker.dexTransfer({ destination: taker.address, tokenId: token, amount: whole(1) }));
    await done('deposit for another', maker.dexAgentDeposit({ beneficiary: taker.address, tokenId: vite, amount: whole(1) }));
    await done('withdraw', taker.dexWithdraw({ tokenId: token, amount: whole(61) }));
    await done('withdraw to another', maker.dexAssignedWithdraw({ destination: taker.address, tokenId: token, amount: whole(2) }));

    const refusal = await taker.dexPlaceOrder({ ...pair, side: 0, price: '1e1', quantity: whole(60) }).autoSend()
        .then(() => null, err => err.error || err);
    const history = await api.getTransactionList({ address: maker.address, pageIndex: 0, pageSize: 50 });
    return {
        failed, issue: issue.hash, symbol: market.marketSymbol, sell: sell.hash, buy: buy.hash, resting, rest: book[0], settled, bought,
        granted, revoked, inviter: await api.request('dex_getInviteCodeBinding', taker.address) === code,
        left: await funds(taker, token), refusal: refusal && { code: refusal.code, message: refusal.message },
        history: history.map(b => b.transactionType)
    };
};

session().then(result => {
    process.stdout.write(`${ JSON.stringify(result) }\n`, () => process.exit(0));
}, err => {
    console.error(err);
    process.exit(1);
});
