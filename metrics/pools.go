package metrics

import "database/sql"

// Pools is an open database. It returns the state of its pools of connections by their names.
type Pools interface{ Pools() map[string]sql.DBStats }

// Pools exports the connections of a database, until another one of the same name replaces it.
func (m *Metrics) Pools(database string, p Pools) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.pools[database] = p
}

// showPools exports counters that begin again at zero when the database is opened again.
func (m *Metrics) showPools(p *page) {
	for database, of := range m.pools {
		for pool, s := range of.Pools() {
			p.set(poolUsed, float64(s.InUse), database, pool)
			p.set(poolIdle, float64(s.Idle), database, pool)
			p.set(poolMost, float64(s.MaxOpenConnections), database, pool)
			p.set(poolWaits, float64(s.WaitCount), database, pool)
			p.set(poolWaited, s.WaitDuration.Seconds(), database, pool)
		}
	}
}
