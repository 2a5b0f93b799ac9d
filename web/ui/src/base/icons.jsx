// Icons of the interface (lucide), of tokens (cryptocurrency-icons) and of chains.
import {
  ArrowDownUp, ArrowRight, Bell, Check, ChevronDown, ChevronLeft, ChevronRight, CircleAlert, CircleCheck, Clock, Copy, Download, ExternalLink, Eye, Gauge, Globe, History, Info, KeyRound,
  Languages, LayoutDashboard, Link, List, LoaderCircle, LogOut, Menu, Monitor, Moon, Pencil, Plus, QrCode, RefreshCw, Search, Server, Settings, Star, Sun, Trash2, TriangleAlert, Unplug, User,
  Wallet, Wrench, X,
} from "lucide";
import { assetName } from "./names.js";
import btc from "cryptocurrency-icons/svg/color/btc.svg";
import bnb from "cryptocurrency-icons/svg/color/bnb.svg";
import dai from "cryptocurrency-icons/svg/color/dai.svg";
import eth from "cryptocurrency-icons/svg/color/eth.svg";
import ltc from "cryptocurrency-icons/svg/color/ltc.svg";
import matic from "cryptocurrency-icons/svg/color/matic.svg";
import usdc from "cryptocurrency-icons/svg/color/usdc.svg";
import usdt from "cryptocurrency-icons/svg/color/usdt.svg";
import wbtc from "cryptocurrency-icons/svg/color/wbtc.svg";

const icons = {
  swap: ArrowDownUp, arrow: ArrowRight, bell: Bell, check: Check, down: ChevronDown, left: ChevronLeft, right: ChevronRight, alert: CircleAlert, done: CircleCheck, clock: Clock,
  copy: Copy, download: Download, external: ExternalLink, eye: Eye, globe: Globe, info: Info, key: KeyRound, language: Languages, overview: LayoutDashboard, link: Link,
  busy: LoaderCircle, leave: LogOut, menu: Menu, system: Monitor, dark: Moon, edit: Pencil, plus: Plus, qr: QrCode, refresh: RefreshCw, search: Search, settings: Settings,
  gauge: Gauge, history: History, list: List, server: Server, star: Star, light: Sun, remove: Trash2, warning: TriangleAlert, offline: Unplug, user: User, wallet: Wallet, wrench: Wrench, close: X,
};

// Icon is a sign of the interface. It is decoration: the text next to it, or the label of its button, has the meaning.
export function Icon({ name, size = 18 }) {
  return <svg class={"icon icon-" + name} viewBox="0 0 24 24" width={size} height={size} fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round"
    aria-hidden="true">{icons[name].map(([Tag, attributes], i) => <Tag key={i} {...attributes} />)}</svg>;
}

const tokens = { BTC: btc, BNB: bnb, DAI: dai, ETH: eth, LTC: ltc, MATIC: matic, POL: matic, USDC: usdc, USDT: usdt, WBTC: wbtc };
const chains = { Bitcoin: btc, Litecoin: ltc, Ethereum: eth, "BNB Smart Chain": bnb, Polygon: matic };

// hue is a colour of a name: the same on every page.
const hue = (name) => [...name].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 360, 7);

const Disc = ({ name, size, class: more = "" }) => <svg class={"coin " + more} viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
  <circle cx="16" cy="16" r="16" fill={`hsl(${hue(name)} 55% 38%)`} />
  <text x="16" y="21" text-anchor="middle" font-size="13" font-weight="700" fill="#fff">{name.slice(0, 2)}</text></svg>;

const Picture = ({ source, size, class: more = "" }) => <img class={"coin " + more} src={source} width={size} height={size} alt="" />;

// TokenIcon is the sign of a token by its symbol ("USDT-000" or "USDT"), or a disc with its first letters.
export function TokenIcon({ symbol, size = 24 }) {
  const name = assetName(symbol).toUpperCase();
  return tokens[name] ? <Picture source={tokens[name]} size={size} /> : <Disc name={name} size={size} />;
}

// ChainIcon is the sign of a chain by its name; "Ethereum (development)" has that of Ethereum.
export function ChainIcon({ name, size = 24 }) {
  const known = Object.keys(chains).find((chain) => name.startsWith(chain));
  return known ? <Picture class="chain" source={chains[known]} size={size} /> : <Disc class="chain" name={name} size={size} />;
}
