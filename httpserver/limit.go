package httpserver

import (
	"net/netip"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common/lru"
	"golang.org/x/time/rate"
)

// maxClients bounds the memory of a limit; the client not seen for longest is forgotten first.
const maxClients = 100_000

// Limit counts what each client takes. It is safe for concurrent use.
type Limit struct {
	now func() time.Time

	mu      sync.Mutex
	rate    rate.Limit
	burst   int
	clients lru.BasicLRU[string, *rate.Limiter]
}

// NewLimit lets a client take so many in a second, and burst at once.
func NewLimit(perSecond float64, burst int, now func() time.Time) *Limit {
	return &Limit{now: now, rate: rate.Limit(perSecond), burst: burst, clients: lru.NewBasicLRU[string, *rate.Limiter](maxClients)}
}

// Change takes another bound. Then nothing counts that was taken before; with the same bound
// nothing changes.
func (l *Limit) Change(perSecond float64, burst int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rate == rate.Limit(perSecond) && l.burst == burst {
		return
	}
	l.rate, l.burst, l.clients = rate.Limit(perSecond), burst, lru.NewBasicLRU[string, *rate.Limiter](maxClients)
}

// Take counts one and returns the client's waiting time; 0 when it may continue. This machine ("")
// is not counted.
func (l *Limit) Take(client string) time.Duration {
	if client == "" {
		return 0
	}
	now := l.now()
	r := l.clientRate(client).ReserveN(now, 1)
	wait := r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

func (l *Limit) clientRate(client string) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.clients.Get(client)
	if !ok {
		known = rate.NewLimiter(l.rate, l.burst)
		l.clients.Add(client, known)
	}
	return known
}

// ConnLimit bounds how many things each client may hold at one time. It is safe for concurrent use.
// Its memory is bounded by what is held.
type ConnLimit struct {
	most int

	mu   sync.Mutex
	held map[string]int
}

// NewConnLimit gives each client so many places.
func NewConnLimit(most int) *ConnLimit { return &ConnLimit{most: most, held: map[string]int{}} }

// Enter takes a place; false when the client holds all of its own. Each success needs a Leave. This
// machine ("") is not counted.
func (p *ConnLimit) Enter(client string) bool {
	if client == "" {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[client] >= p.most {
		return false
	}
	p.held[client]++
	return true
}

// Leave gives a place back.
func (p *ConnLimit) Leave(client string) {
	if client == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[client]--; p.held[client] == 0 {
		delete(p.held, client)
	}
}

// SiteOf returns the /48 of an IPv6 client of Middleware.Client, because one customer of a provider
// may own all of it; "", which is not counted, for any other client.
func SiteOf(client string) string {
	p, err := netip.ParsePrefix(client)
	if err != nil {
		return ""
	}
	return netip.PrefixFrom(p.Addr(), 48).Masked().String()
}

// clientOf returns the key by which an address is counted: itself, for IPv6 the /64 of one
// customer, "" for this machine.
func clientOf(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	addr = addr.Unmap().WithZone("")
	switch {
	case addr.IsLoopback():
		return ""
	case addr.Is6():
		return netip.PrefixFrom(addr, 64).Masked().String()
	}
	return addr.String()
}
