package daemon

import (
	"net/http"
	"time"

	"gatewayd/config"
	"gatewayd/gateway"
	"gatewayd/web"
)

// served is true for a page unless its flag is false.
func served(flag *bool) bool { return flag == nil || *flag }

// gatewayPages are the pages on the gateway's listener. Those of the exchange API are on another,
// so links to them are complete URLs.
func gatewayPages(cfg config.Config, demo bool) map[string]http.Handler {
	site := newSite(cfg.Gateway.Operator, demo)
	if x := cfg.Exchange; x != nil && x.Public() != "" {
		site.Rates = x.Public()
		if served(x.TradePage) {
			site.Trade = x.Public() + "/trade"
		}
		if served(x.KeyPage) {
			site.Keys = x.Public() + "/keys"
		}
	}
	if !served(cfg.Gateway.BridgePage) {
		return web.Reference(site)
	}
	site.Bridge, site.Reserves = "bridge", cfg.Gateway.Reserves
	return web.Join(web.Reference(site), web.Bridge(site.Rates), web.Start(site))
}

// exchangePages are the pages on the exchange API's listener.
func exchangePages(cfg config.Exchange, demo bool) map[string]http.Handler {
	site := newSite(cfg.Operator, demo)
	if cfg.Gateway.URL != "" && !cfg.NoBridgePage {
		site.Bridge = cfg.Gateway.URL + "/bridge"
	}
	var pages []map[string]http.Handler
	if served(cfg.KeyPage) {
		site.Keys = "keys"
		pages = append(pages, web.Keys())
	}
	if served(cfg.TradePage) {
		site.Trade = "trade"
		pages = append(pages, web.Trade())
	}
	pages = append(pages, web.Reference(site))
	if len(pages) > 1 {
		pages = append(pages, web.Start(site))
	}
	return web.Join(pages...)
}

// newSite returns what the pages of all listeners show.
func newSite(operator gateway.Operator, demo bool) web.Site {
	return web.Site{Reference: reference, Operator: web.Operator(operator), Started: time.Now().UTC().Truncate(time.Second), Demo: demo}
}

// reference is the address of the page that describes the API, on each listener.
const reference = "docs"
