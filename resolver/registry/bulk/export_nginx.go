package bulk

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// nginxExport writes a map of nginx (ngx_http_map_module) from $request_uri to the first target. The keys are
// strings, which nginx compares case-insensitively, or regular expressions for names that differ only in
// case.
type nginxExport struct {
	skipped  func(string, error)
	seed     maphash.Seed
	clashes  map[uint64]bool // hashes of lower-cased names shared by names that differ only in case
	prefixes []registry.Entry
	all      *entries
}

const nginxHead = `# Names of a registry of urnd, and where they lead. Include this file in the block http, and use
# the map in a server that gets the names as paths, as /urn:nbn:fi:a:
#
#   if ($urnd_location = 410) { return 410; }
#   if ($urnd_location) { return 302 $urnd_location; }
#
# Many names need map_hash_max_size and map_hash_bucket_size in the block http. Names are found
# without regard to case where that does not matter between them.
geo $urnd_dollar { default "$"; }
map $request_uri $urnd_location {
    default "";
`

func (x *nginxExport) begin(w *bufio.Writer, all *entries) error {
	x.seed, x.clashes, x.all = maphash.MakeSeed(), make(map[uint64]bool), all
	seen := make(map[uint64]bool)
	err := all.of(registry.KindName, func(e *registry.Entry) error {
		lower := strings.ToLower(e.Name)
		h := maphash.String(x.seed, lower)
		switch {
		case seen[h]:
			x.clashes[h] = true
		case lower != e.Name: // the all-lower-case name, if registered, sorts last
			seen[h] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = w.WriteString(nginxHead)
	return err
}

// nowhere is the value for names without an exportable target. Without such a line the map would apply a
// shorter prefix.
const nowhere = `""`

var (
	errNoTargets = fmt.Errorf("%w: no target", ErrUnexportable)
	errTemplate  = fmt.Errorf("%w: template with variables other than {suffix}", ErrUnexportable)
	errBounded   = fmt.Errorf("%w: targets with a start or an end", ErrUnexportable)
)

func (x *nginxExport) entry(w *bufio.Writer, e *registry.Entry) error {
	if e.Kind == registry.KindPrefix { // collected: the longest prefix is written first
		x.prefixes = append(x.prefixes, *e)
		return nil
	}
	location, err := x.location(e)
	if isUnexportable(err) {
		x.skipped(e.Name, err)
		location, err = nowhere, nil
	}
	if err != nil {
		return err
	}
	x.withoutStatus(e)
	key := nginxQuoted("/" + e.Name)
	if x.clashes[maphash.String(x.seed, strings.ToLower(e.Name))] {
		key = nginxQuoted("~^/" + regexp.QuoteMeta(e.Name) + "$")
	}
	_, err = fmt.Fprintf(w, "    %s %s;\n", key, location)
	return err
}

// withoutStatus reports a redirect status that the map cannot express: it has locations only, and the server
// configuration decides the status.
func (x *nginxExport) withoutStatus(e *registry.Entry) {
	if e.Redirect != 0 && e.Redirect != http.StatusFound && e.Status == registry.Active {
		x.skipped(e.String(), fmt.Errorf("%w: redirect status %d not in the map", ErrUnexportable, e.Redirect))
	}
}

// lostPattern returns an error for an active prefix with a pattern, which no format expresses: RE2 differs from the
// regular expressions of other programs.
func lostPattern(e *registry.Entry) error {
	if e.Pattern == "" || e.Status != registry.Active {
		return nil
	}
	return fmt.Errorf("%w: pattern %s: names that do not match it are not 404", ErrUnexportable, e.Pattern)
}

// location returns the target of an entry, quoted as a value of the map.
func (x *nginxExport) location(e *registry.Entry) (string, error) {
	of, err := x.all.resolved(e)
	if err != nil {
		return "", err
	}
	if of.Status == registry.Withdrawn {
		return "410", nil
	}
	targets, err := targetsOf(of)
	if err != nil {
		return "", err
	}
	return nginxValue(targets[0]), nil
}

// resolved follows aliases, as of the time of the export, and returns the last entry, or the first entry of the chain
// that is not active.
func (s *entries) resolved(e *registry.Entry) (*registry.Entry, error) {
	for range 10 {
		if e.Alias == "" || e.Status != registry.Active {
			return e, nil
		}
		var of []registry.Entry
		err := s.read(func(tx registry.Tx) (err error) {
			of, err = tx.Entries([]registry.Key{registry.Name(e.Alias)})
			if err == nil && !s.at.IsZero() {
				of, err = registry.EntriesAt(tx, of, s.at)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		if !of[0].Exists() {
			return nil, fmt.Errorf("%w: alias of %s, which is not registered", ErrUnexportable, e.Alias)
		}
		e = &of[0]
	}
	return nil, fmt.Errorf("%w: alias chain too long", ErrUnexportable)
}

// targetsOf returns the URIs of the targets without From and Until, by priority. There is at least one if the
// error is nil.
func targetsOf(e *registry.Entry) (uris []string, err error) {
	if e.Status != registry.Active {
		return nil, fmt.Errorf("%w: status %s", ErrUnexportable, e.Status)
	}
	if len(e.Targets) == 0 {
		return nil, errNoTargets
	}
	targets := slices.Clone(e.Targets)
	slices.SortStableFunc(targets, func(a, b registry.Target) int { return cmp.Compare(a.Priority, b.Priority) })
	for _, t := range targets {
		if t.ResolvedTo() && t.From.IsZero() && t.Until.IsZero() {
			uris = append(uris, t.URI)
		}
	}
	if uris == nil {
		return nil, errBounded
	}
	return uris, nil
}

// aroundSuffix splits the first target of a prefix at its variable {suffix}, into the text before it and the
// text after it.
func aroundSuffix(e *registry.Entry) (before, after string, err error) {
	targets, err := targetsOf(e)
	if err != nil {
		return "", "", err
	}
	for _, variable := range []string{"{suffix}", "{+suffix}"} {
		if before, after, ok := strings.Cut(targets[0], variable); ok && !strings.Contains(before+after, "{") {
			return before, after, nil
		}
	}
	if strings.Contains(targets[0], "{") {
		return "", "", errTemplate
	}
	return targets[0], "", nil
}

func isUnexportable(err error) bool { return errors.Is(err, ErrUnexportable) }

func nginxQuoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// nginxValue quotes a value. It escapes the dollar sign, which begins a variable.
func nginxValue(text string) string {
	return strings.ReplaceAll(nginxQuoted(text), "$", "${urnd_dollar}")
}

func (x *nginxExport) end(w *bufio.Writer) error {
	for _, e := range slices.Backward(x.prefixes) {
		if err := lostPattern(&e); err != nil {
			x.skipped(e.String(), err)
		}
		x.withoutStatus(&e)
		if e.Defers() {
			continue
		}
		value, err := prefixValue(&e)
		if err != nil {
			if e.Status == registry.Active && len(e.Targets) > 0 {
				x.skipped(e.String(), err)
			}
			value = nowhere
		}
		key := nginxQuoted("~^/" + regexp.QuoteMeta(e.Name) + "(?<urnd_suffix>.+)$")
		if _, err := fmt.Fprintf(w, "    %s %s;\n", key, value); err != nil {
			return err
		}
	}
	_, err := w.WriteString("}\n")
	return err
}

// prefixValue returns the target of the names below a prefix, quoted as a value of the map.
func prefixValue(e *registry.Entry) (string, error) {
	if e.Status == registry.Withdrawn {
		return "410", nil
	}
	before, after, err := aroundSuffix(e)
	if err != nil {
		return "", err
	}
	return strings.Replace(nginxValue(before+"\x00"+after), "\x00", "${urnd_suffix}", 1), nil
}
