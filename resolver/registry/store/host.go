package store

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// ByHost implements registry.Tx.
func (t *transaction) ByHost(
	host string, domain bool, below, after string, limit int,
) (page []registry.Entry, last string, err error) {
	hosts, err := t.hostIDs(host, domain)
	if err != nil || len(hosts) == 0 {
		return nil, "", err
	}
	return t.scan(scanQuery{next: func(behind int64) ([]int64, error) { return t.namesAt(hosts, behind) }}, after,
		below, limit)
}

// namesAt returns name.id of the next names behind one that have a current target at one of some hosts. It
// queries one host after another, since a statement over several hosts would sort all of their names.
func (t *transaction) namesAt(hosts []int64, behind int64) (names []int64, err error) {
	upto := int64(math.MaxInt64) // once a page is full, greater ids are not needed
	for _, host := range hosts {
		err := t.conn.Query("SELECT DISTINCT current FROM target WHERE host = $1 AND current > $2 AND current <= $3 "+
			"ORDER BY current LIMIT $4", func(row Row) error {
			names = append(names, row.Int(0))
			return nil
		}, host, behind, upto, int64(scanPage))
		if err != nil {
			return nil, err
		}
		if len(hosts) > 1 && len(names) >= scanPage {
			slices.Sort(names)
			names = slices.Compact(names)
			names = names[:min(len(names), scanPage)]
			if len(names) == scanPage {
				upto = names[scanPage-1]
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// hostIDs returns host.id of a host, with domain also those of its subdomains.
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
	err = t.conn.Query("SELECT id FROM host WHERE reversed = $1 OR reversed >= $2 AND reversed < $3 LIMIT $4", add,
		first, first+".", first+"/", int64(maxHosts+1))
	if err == nil && len(ids) > maxHosts {
		err = fmt.Errorf("%w: more than %d hosts below %s", registry.ErrInvalid, maxHosts, host)
	}
	return ids, err
}

// maxHosts limits the number of subdomains in a search.
const maxHosts = 500

// reverse returns a host in lower case with its labels in reverse order. An IP address is only lowercased.
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
