'use strict';
// A wallet's session with a node through the public client library: keys, staking, a payment with a comment, its
// notification, receiving, issuing a token, a refusal, a PoW nonce. Prints what it saw as JSON; the Go test judges it.
//
// usage: node session.js <path of @vite/vitejs> <http|ws|ipc> <address of the node>

const [, , library, transport, target] = process.argv;
const { ViteAPI, HTTP_RPC, WS_RPC, IPC_RPC, wallet, account, constant } = require(library);

const mnemonic = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';
const vite = constant.Vite_TokenId;
const ONE = '1000000000000000000';

const connect = () => {
    const Transport = { http: HTTP_RPC, ws: WS_RPC, ipc: IPC_RPC }[transport];
    const provider = new Transport(target, 20000);
    return new Promise(resolve => {
        const api = new ViteAPI(provider, () => setImmediate(() => resolve(api))); // HTTP calls back inside the constructor
    });
};

// until polls for a condition; the node moves by itself and the Go test bounds the whole session.
const until = async condition => {
    for (;;) {
        const value = await condition();
        if (value) return value;
        await new Promise(next => setTimeout(next, 20));
    }
};

const session = async () => {
    const api = await connect();
    const rich = wallet.getWallet(mnemonic).deriveAddress(0);
    const fresh = wallet.createWallet().deriveAddress(0);
    const accountOf = key => new account.Account(key.address).setPrivateKey(key.privateKey).setProvider(api);
    const richAccount = accountOf(rich), freshAccount = accountOf(fresh);
    const enough = address => until(async () => {
        const quota = await api.request('contract_getQuotaByAccount', address);
        return Number(quota.currentQuota) >= 210000;
    });

    const events = [];
    const subscription = await api.subscribe('newUnreceivedBlockByAddress', fresh.address);
    subscription.on(list => events.push(...list));

    await enough(rich.address);
    await richAccount.stakeForQuota({ beneficiaryAddress: fresh.address, amount: `10000${ ONE.slice(1) }` }).autoSend();
    const send = await richAccount.send({
        toAddress: fresh.address, tokenId: vite, amount: ONE, data: Buffer.from('hello from a wallet').toString('base64')
    }).autoSend();
    const arrival = await until(() => events.find(e => e.hash === send.hash && !e.received));

    await enough(fresh.address);
    const receive = await freshAccount.receive({ sendBlockHash: send.hash }).autoSendByPoW();
    const balance = await api.getBalanceInfo(fresh.address);
    const received = await until(() => events.find(e => e.hash === send.hash && e.received));

    const producers = await api.request('contract_getSBPVoteList');
    const producer = await api.request('contract_getSBP', producers[0].sbpName);
    const voted = await api.request('contract_getVotedSBP', rich.address);
    const cycle = await api.request('sbpstats_time2Index', null, 2);
    const rewards = await api.request('contract_getSBPRewardByCycle', String(cycle));
    const storage = await api.request('contract_getContractStorage', constant.DexTrade_ContractAddress, '');
    const sync = await api.request('net_syncDetail');

    await enough(rich.address);
    const issue = await richAccount.issueToken({
        tokenName: 'Session Token', tokenSymbol: 'SESS', decimals: 8, isReIssuable: true, isOwnerBurnOnly: false,
        totalSupply: '100000000', maxSupply: '200000000'
    }).autoSend();
    const mint = await until(async () => {
        const waiting = await api.request('ledger_getUnreceivedBlocksByAddress', rich.address, 0, 10);
        return waiting.find(b => b.blockType === 3);
    });
    await richAccount.receive({ sendBlockHash: mint.hash }).autoSendByPoW();
    const token = await api.request('contract_getTokenInfoById', mint.tokenId);

    const refusal = await freshAccount.send({ toAddress: rich.address, tokenId: vite, amount: `9${ ONE }` }).autoSend()
        .then(() => null, err => err.error || err);
    const nonce = await api.getNonce({ difficulty: '2000', previousHash: receive.hash, address: fresh.address });
    const history = await api.getTransactionList({ address: rich.address, pageIndex: 0, pageSize: 10 });
    await until(async () => (await api.request('ledger_getAccountBlockByHash', issue.hash)).confirmations);

    subscription.off();
    return {
        fresh: fresh.address, send: send.hash, receive: receive.hash, arrival, received, nonce, token,
        balance: balance.balance.balanceInfoMap[vite].balance,
        refusal: { code: refusal.code, message: refusal.message },
        history: history.map(b => b.transactionType),
        producer, voted, cycle, rewards, storage, synced: sync.current
    };
};

session().then(result => {
    process.stdout.write(`${ JSON.stringify(result) }\n`, () => process.exit(0));
}, err => {
    console.error(err);
    process.exit(1);
});
