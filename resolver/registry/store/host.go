package store

import (
	"fmt"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// ByHost implements registry.Tx.
func (t *transaction) ByHost(host string, domain bool, below, after string, limit int) ([]registry.Entry, error) {
	from, to, err := between(below, "")
	if err != nil {
		return nil, err
	}
	behind, err := t.behind(after)
	if err != nil {
		return nil, err
	}
	hosts, err := t.hostIDs(host, domain)
	if err != nil || len(hosts) == 0 {
		return nil, err
	}
	// CROSS JOIN has SQLite begin with the index of hosts, which has names in the order in which they were registered.
	const begin, end = "SELECT " + entryColumns + " FROM (SELECT DISTINCT o.current AS id FROM target o CROSS JOIN name k WHERE o.host ",
		" AND o.current > $2 AND k.id = o.current AND k.kind = 0 AND k.key >= $3 AND k.key < $4 ORDER BY o.current LIMIT $5) f " +
			"JOIN name n ON n.id = f.id" + current + "ORDER BY n.id, t.position"
	if len(hosts) == 1 {
		return t.query(begin+"= $1"+end, hosts[0], behind, from, to, int64(limit))
	}
	return t.query(begin+"IN ($1...)"+end, hosts, behind, from, to, int64(limit))
}

// hostIDs returns host.id of a host, and with domain of those below it.
func (t *transaction) hostIDs(host string, domain bool) (ids []int64, err error) {
	add := func(row Row) error {
		ids = append(ids, row.Int(0))
		return nil
	}
	first := reverse(host)
	if !domain {
		err = t.conn.Query("SELECT id FROM host WHERE reversed = $1", add, first)
		return ids, err
	}
	err = t.conn.Query("SELECT id FROM host WHERE reversed = $1 OR reversed >= $2 AND reversed < $3 LIMIT $4", add, first, first+".", first+"/", int64(maxHosts+1))
	if err == nil && len(ids) > maxHosts {
		err = fmt.Errorf("%w: more than %d hosts are below %s", registry.ErrInvalid, maxHosts, host)
	}
	return ids, err
}

// maxHosts bounds the hosts below a domain that are searched for together.
const maxHosts = 10_000

// reverse returns a host in lower case with its labels in reverse order. An address stays as it is.
func reverse(host string) string {
	host = strings.ToLower(host)
	if strings.HasPrefix(host, "[") || host == "" || strings.Trim(host, "0123456789.") == "" {
		return host
	}
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	for i, j := 0, len(labels)-1; i < j; i, j = i+1, j-1 {
		labels[i], labels[j] = labels[j], labels[i]
	}
	return strings.Join(labels, ".")
}
