package ws

import (
	"sync"

	"gatewayd/exchangeapi/index"
)

// table maps each subscribed topic to its subscriptions, by shape. One goroutine publishes; the
// readers of all connections subscribe.
type table struct {
	mu     sync.Mutex
	groups map[string]*group // by topic
	count  int               // subscriptions in all
	most   int               // of count
	fresh  []*subscription   // that wait for a book
	books  int               // subscriptions to updates of books
}

// group is the subscriptions to one topic.
type group struct {
	topic topic
	subs  [shapes][]*subscription
}

// subscription is one connection's wish for a topic in one shape.
type subscription struct {
	conn     *conn
	group    *group
	shape    shape
	clientID string // goes into each binary push
	at       int    // in group.subs[shape]
	fresh    bool   // it waits for a book, and has no updates of it before
}

// subKey identifies a connection's subscription: one topic may be subscribed in several shapes.
type subKey struct {
	topic string
	shape shape
}

// add subscribes c to each topic, once. It is false, and nothing is changed, when c would have more
// subscriptions than it may have, or all connections together.
func (t *table) add(c *conn, topics []topic, s shape, clientID string, limit int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	fresh := map[string]bool{}
	for _, what := range topics {
		if c.subs[subKey{what.name, s}] == nil {
			fresh[what.name] = true
		}
	}
	if len(fresh) > 0 && (len(c.subs)+len(fresh) > limit || t.count+len(fresh) > t.most) {
		return false
	}
	for _, what := range topics {
		t.addLocked(c, what, s, clientID)
	}
	return true
}

func (t *table) addLocked(c *conn, what topic, s shape, clientID string) {
	key := subKey{what.name, s}
	if old := c.subs[key]; old != nil {
		old.clientID = clientID
		t.refresh(old)
		return
	}
	g := t.groups[what.name]
	if g == nil {
		g = &group{topic: what}
		t.groups[what.name] = g
	}
	sub := &subscription{conn: c, group: g, shape: s, clientID: clientID, at: len(g.subs[s])}
	g.subs[s] = append(g.subs[s], sub)
	if c.subs == nil {
		c.subs = make(map[subKey]*subscription, 1)
	}
	c.subs[subKey{g.topic.name, s}] = sub
	t.count++
	if what.kind == kindDepthUpdate {
		t.books++
	}
	t.refresh(sub)
}

// refresh schedules the complete book for a subscriber to its updates, also after a repeated
// request.
func (t *table) refresh(sub *subscription) {
	if sub.group.topic.kind == kindDepthUpdate && !sub.fresh {
		sub.fresh = true
		t.fresh = append(t.fresh, sub)
	}
}

// remove ends a subscription; ending what never was is harmless.
func (t *table) remove(c *conn, name string, s shape) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if sub := c.subs[subKey{name, s}]; sub != nil {
		t.drop(sub)
	}
}

// removeAll ends all subscriptions of c.
func (t *table) removeAll(c *conn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, sub := range c.subs {
		t.drop(sub)
	}
	c.subs = nil
}

func (t *table) drop(sub *subscription) {
	g := sub.group
	list := g.subs[sub.shape]
	last := list[len(list)-1]
	last.at = sub.at
	list[sub.at] = last
	list[len(list)-1] = nil
	g.subs[sub.shape] = list[:len(list)-1]
	delete(sub.conn.subs, subKey{g.topic.name, sub.shape})
	t.count--
	if g.topic.kind == kindDepthUpdate {
		t.books--
	}
	if g.empty() {
		delete(t.groups, g.topic.name)
	}
}

func (g *group) empty() bool {
	for _, list := range g.subs {
		if len(list) > 0 {
			return false
		}
	}
	return true
}

// wants reports whether c has a subscription of one of the kinds.
func (t *table) wants(c *conn, wanted func(kind) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, sub := range c.subs {
		if wanted(sub.group.topic.kind) {
			return true
		}
	}
	return false
}

// followed reports whether anybody follows the updates of a book.
func (t *table) followed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.books > 0
}

// wantedOrders lists the orders of updates that have a subscriber, and the accounts with a
// signed-in client.
func (t *table) wantedOrders(us []index.Update) (ids []string, accounts map[string]bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, u := range us {
		for i := range u.Orders {
			o := &u.Orders[i]
			own := t.groups[accountTopic(o.Address)] != nil
			if own && !accounts[o.Address] {
				if accounts == nil {
					accounts = map[string]bool{}
				}
				accounts[o.Address] = true
			}
			if own || t.groups[orderTopic(o.Address)] != nil || t.groups[openTopic(o.Symbol, o.Address)] != nil || t.groups[historyTopic(o.Symbol, o.Address)] != nil {
				ids = append(ids, o.ID)
			}
		}
	}
	return ids, accounts
}

// has reports whether anybody wants the topic.
func (t *table) has(name string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.groups[name] != nil
}
