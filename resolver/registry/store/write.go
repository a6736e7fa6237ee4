package store

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// Append implements registry.WriteTx.
func (t *transaction) Append(set *registry.ChangeSet, changes []registry.Changed, purged []registry.Entry) error {
	if len(changes)+len(purged) == 0 {
		return nil
	}
	before, err := t.chain()
	if err != nil {
		return err
	}
	first := before.last + 1
	leaves, err := t.appendVersions(first, changes)
	if err != nil {
		return err
	}
	next := first + registry.Seq(len(changes))
	for i := range purged {
		leaf, err := t.purge(next, set, &purged[i])
		if err != nil {
			return err
		}
		leaves = append(leaves, leaf[:]...)
		next++
	}
	if err := t.count(changes, purged); err != nil {
		return err
	}
	return t.commit(set, first, next-1, leaves)
}

// appendVersions numbers and writes versions, and returns their leaves.
func (t *transaction) appendVersions(first registry.Seq, changes []registry.Changed) (leaves []byte, err error) {
	n := newVersionsOf(len(changes))
	salts := make([]byte, saltSize*len(changes))
	_, _ = rand.Read(salts) // never fails
	digests := make([]byte, 0, digestSize*len(changes))
	leaves = make([]byte, 0, digestSize*len(changes))
	for i := range changes {
		after := &changes[i].After
		after.Seq = first + registry.Seq(i)
		salt := salts[saltSize*i:][:saltSize]
		digest := t.hash.content(after, salt)
		digests = append(digests, digest[:]...)
		leaf := t.hash.leaf(after, digest[:])
		leaves = append(leaves, leaf[:]...)
		if err := n.add(&changes[i], salt, digests[digestSize*i:]); err != nil {
			return nil, err
		}
	}
	return leaves, t.insert(n)
}

// newVersions are versions to write.
type newVersions struct {
	all        []version
	last       map[registry.Key]int      // index in all of the last version of each key
	superseded []int64                   // seqs of versions with targets that are no longer current
	words      map[registry.Seq][]string // previous words of the titles of names
	targets    []target
}

// newVersionsOf returns empty newVersions with capacity for n versions.
func newVersionsOf(n int) *newVersions {
	return &newVersions{
		all: make([]version, 0, n), last: make(map[registry.Key]int, n),
		words: make(map[registry.Seq][]string),
	}
}

// add adds a version that has its seq, and sets First from its predecessor. ErrConflict means that its number
// does not follow that of the predecessor.
func (n *newVersions) add(c *registry.Changed, salt, digest []byte) error {
	before, after := &c.Before, &c.After
	if err := registry.CheckKey(after.Name); err != nil {
		return err
	}
	if j, ok := n.last[after.Key]; ok {
		before = n.all[j].Entry
	} else if before.Exists() {
		if len(before.Targets) > 0 {
			n.superseded = append(n.superseded, int64(before.Seq))
		}
		if words := titleWords(before); len(words) > 0 {
			n.words[before.First] = words
		}
	}
	n.last[after.Key] = len(n.all)
	if after.Version != before.Version+1 {
		return fmt.Errorf("%w: %s: version %d would follow version %d", registry.ErrConflict, after.Key, after.Version,
			before.Version)
	}
	after.First = before.First
	if !before.Exists() {
		after.First = after.Seq
	}
	n.all = append(n.all, version{Entry: after, name: after.First, salt: salt, digest: digest})
	return nil
}

// numberAuthors sets author.id of versions.
func (t *transaction) numberAuthors(n *newVersions) (err error) {
	for i := range n.all {
		if n.all[i].author, err = t.author(n.all[i].By); err != nil {
			return err
		}
	}
	return nil
}

// author returns author.id of an author, and inserts the author if necessary.
func (t *transaction) author(name string) (id int64, err error) {
	if id, ok := t.authors[name]; ok {
		return id, nil
	}
	var last int64
	err = t.conn.Query("SELECT (SELECT id FROM author WHERE name = $1), (SELECT max(id) FROM author)",
		func(row Row) error {
			id, last = row.Int(0), row.Int(1)
			return nil
		}, name)
	if err == nil && id == 0 {
		id = last + 1
		err = t.conn.Exec("INSERT INTO author (id, name) VALUES ($1, $2)", id, name)
	}
	if err != nil {
		return 0, err
	}
	if t.authors == nil {
		t.authors = make(map[string]int64)
	}
	t.authors[name] = id
	return id, nil
}

// insert writes versions with their targets, and makes the last version of each key the current one.
func (t *transaction) insert(n *newVersions) error {
	if err := t.numberAuthors(n); err != nil {
		return err
	}
	if err := t.conn.Insert("version", versionColumns(), "", len(n.all),
		func(i int, v Values) { n.all[i].add(v) }); err != nil {
		return err
	}
	if len(n.superseded) > 0 {
		if err := t.conn.Exec("UPDATE target SET current = NULL WHERE version IN ($1...)", n.superseded); err != nil {
			return err
		}
	}
	for i := range n.all {
		e := n.all[i].Entry
		for j := range e.Targets {
			new := target{Target: &e.Targets[j], version: int64(e.Seq), position: int64(j)}
			if n.last[e.Key] == i {
				new.current = int64(e.First)
			}
			n.targets = append(n.targets, new)
		}
	}
	if err := t.numberHosts(n.targets); err != nil {
		return err
	}
	if err := t.conn.Insert("target", targetInsertColumns(), "", len(n.targets),
		func(i int, v Values) { n.targets[i].add(v) }); err != nil {
		return err
	}
	if err := t.insertWords(n); err != nil {
		return err
	}
	return t.point(n)
}

// numberHosts sets host.id of targets.
func (t *transaction) numberHosts(targets []target) error {
	if t.hosts == nil {
		t.hosts = make(map[string]int64)
	}
	reversed := make([]string, len(targets))
	unknown := make(map[string]bool)
	for i := range targets {
		if reversed[i] = reverse(registry.HostOf(targets[i].URI)); reversed[i] == "" {
			continue
		}
		if _, ok := t.hosts[reversed[i]]; !ok {
			unknown[reversed[i]] = true
		}
	}
	if len(unknown) > 0 {
		if err := t.addHosts(slices.Sorted(maps.Keys(unknown))); err != nil {
			return err
		}
	}
	for i := range targets {
		targets[i].host = t.hosts[reversed[i]]
	}
	return nil
}

// addHosts reads host.id of hosts, and inserts the hosts that have none.
func (t *transaction) addHosts(reversed []string) error {
	err := t.conn.Query("SELECT id, reversed FROM host WHERE reversed IN ($1...)", func(row Row) error {
		t.hosts[row.Text(1)] = row.Int(0)
		return nil
	}, reversed)
	if err != nil {
		return err
	}
	missing := slices.DeleteFunc(reversed, func(host string) bool { return t.hosts[host] != 0 })
	if len(missing) == 0 {
		return nil
	}
	var last int64
	err = t.conn.Query("SELECT max(id) FROM host", func(row Row) error {
		last = row.Int(0)
		return nil
	})
	if err != nil {
		return err
	}
	return t.conn.Insert("host", []string{"id", "reversed"}, "", len(missing), func(i int, v Values) {
		t.hosts[missing[i]] = last + int64(i) + 1
		v.Int(last + int64(i) + 1)
		v.Text(missing[i])
	})
}

// point makes the last version of each key the current one. Names are inserted in the order of the index of
// keys.
func (t *transaction) point(n *newVersions) error {
	var added, moved []*version
	for i := range n.all {
		v := &n.all[i]
		switch {
		case n.last[v.Key] != i:
		case v.First >= n.all[0].Seq:
			added = append(added, v)
		default:
			moved = append(moved, v)
		}
	}
	inOrder := func(a, b *version) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name)) }
	if !slices.IsSortedFunc(added, inOrder) {
		slices.SortFunc(added, inOrder)
	}
	columns := []string{"id", "kind", "key", "version", "status", "alias"}
	value := func(of []*version) func(i int, v Values) {
		return func(i int, v Values) {
			v.Int(int64(of[i].First))
			v.Int(int64(of[i].Kind))
			v.Text(of[i].Name)
			v.Int(int64(of[i].Seq))
			v.Int(int64(of[i].Status))
			optionalText(v, of[i].Alias)
		}
	}
	if err := t.conn.Insert("name", columns, "", len(added), value(added)); err != nil {
		return err
	}
	return t.conn.Insert("name", columns,
		" ON CONFLICT (id) DO UPDATE SET version = excluded.version, status = excluded.status, alias = excluded.alias",
		len(moved), value(moved))
}

// count adds changes to the totals.
func (t *transaction) count(changes []registry.Changed, purged []registry.Entry) error {
	totals := make(map[string]*registry.Totals)
	add := func(e *registry.Entry, n int64) {
		namespace := registry.Namespace(e.Name)
		if totals[namespace] == nil {
			totals[namespace] = new(registry.Totals)
		}
		totals[namespace].Add(e, n)
	}
	for i := range changes {
		add(&changes[i].Before, -1)
		add(&changes[i].After, 1)
	}
	for i := range purged {
		add(&purged[i], -1)
	}
	var namespaces []string
	for namespace, sum := range totals {
		if *sum != (registry.Totals{}) {
			namespaces = append(namespaces, namespace)
		}
	}
	slices.Sort(namespaces)
	columns := []string{"namespace", "active", "reserved", "withdrawn", "aliases", "targets", "prefixes"}
	sums := make([]string, 0, len(columns))
	for _, column := range columns[1:] {
		sums = append(sums, column+" = total."+column+" + excluded."+column)
	}
	return t.conn.Insert("total", columns, " ON CONFLICT (namespace) DO UPDATE SET "+strings.Join(sums, ", "),
		len(namespaces), func(i int, v Values) {
			sum := totals[namespaces[i]]
			v.Text(namespaces[i])
			for _, n := range []int64{sum.Active, sum.Reserved, sum.Withdrawn, sum.Aliases, sum.Targets, sum.Prefixes} {
				v.Int(n)
			}
		})
}
