'use strict';
// What the public client library makes of the same words, signature and block: reads one JSON object from standard input,
// prints another; the Go test compares.
//
// usage: node check.js <path of @vite/vitejs>

const { wallet, utils, accountBlock } = require(process.argv[2]);
const { words, count, message, signature, publicKey, block } = JSON.parse(require('fs').readFileSync(0, 'utf8'));

const own = wallet.getWallet(words);
const accounts = Array.from({ length: count }, (_, index) => own.deriveAddress(index));
const sender = accounts.find(a => a.address === block.address);
const bare = { ...block, hash: undefined, signature: undefined, publicKey: undefined };
const hash = accountBlock.utils.getAccountBlockHash(bare);
const flipped = (signature[0] === '0' ? '1' : '0') + signature.slice(1);

process.stdout.write(JSON.stringify({
    addresses: accounts.map(a => a.address),
    keys: accounts.map(a => a.privateKey),
    verified: utils.ed25519.verify(message, signature, publicKey),
    verifiedFlipped: utils.ed25519.verify(message, flipped, publicKey),
    signature: utils.ed25519.sign(message, sender.privateKey),
    hash,
    blockSignature: utils.ed25519.sign(hash, sender.privateKey)
}));
