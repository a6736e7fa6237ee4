package bulk

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/urnd/urnd/resolver/registry"
)

// zoneExport writes NAPTR records (RFC 3403, RFC 3404) of the DNS zone that resolves the names with one
// prefix, the base. If the rest of a name after the base is a valid domain name, the name has its own records
// at REST.names in the zone; one rule rewrites such names to that owner. All other names and prefixes are
// rules at the apex of the zone. The rules at the apex have to fit into one DNS message.
type zoneExport struct {
	base, origin string
	skipped      func(string, error)
	prefixes     []registry.Entry
	all          *entries
	size         int // bytes of the rules at the apex
}

const (
	// maxRules bounds the bytes of the records at the apex: a DNS message has at most 65535.
	maxRules = 60_000
	// maxExpression bounds a character string (RFC 1035 section 3.3).
	maxExpression = 255
	// ruleOverhead bounds the bytes of a record without its expression.
	ruleOverhead = 32
	maxLabel     = 63
	maxDomain    = 253
)

// The order fields of the rules: the rule of a single name comes before that of a prefix.
const (
	orderName   = 10
	orderNames  = 20
	orderPrefix = 30 // of the longest prefix
)

const zoneHead = `; Names below %s in the registry of urnd, as NAPTR records (RFC 3404).
; Include this file ($INCLUDE) in the zone that the DNS delegates these names to.
$ORIGIN %s
`

var (
	errExpression = fmt.Errorf("%w: rule longer than %d bytes", ErrUnexportable, maxExpression)
	errFull       = fmt.Errorf("%w: not a domain name, and the rules of the zone already have %d bytes",
		ErrUnexportable, maxRules)
	errShadowed = fmt.Errorf("%w: a rule delegates the names below it to records of their own", ErrUnexportable)
)

func (x *zoneExport) begin(w *bufio.Writer, all *entries) error {
	x.all = all
	if !strings.HasSuffix(x.origin, ".") {
		x.origin += "."
	}
	if _, err := fmt.Fprintf(w, zoneHead, x.base, x.origin); err != nil {
		return err
	}
	return x.rule(w, "@", orderNames, 10, "", "", "!^"+ereQuoted(x.base)+`([a-z0-9.-]+)$!\1.names.`+x.origin+"!")
}

func (x *zoneExport) entry(w *bufio.Writer, e *registry.Entry) error {
	if e.Kind == registry.KindPrefix {
		x.prefixes = append(x.prefixes, *e)
		return nil
	}
	err := x.name(w, e)
	if isUnexportable(err) {
		x.skipped(e.Name, err)
		return x.bar(w, e, orderName, "^"+ereQuoted(e.Name)+"$")
	}
	return err
}

// bar writes a rule with an unresolvable replacement for an entry that is not exported, if a shorter prefix
// would match it otherwise.
func (x *zoneExport) bar(w *bufio.Writer, e *registry.Entry, order int, pattern string) error {
	isBelow := func(p registry.Entry) bool {
		return len(p.Name) < len(e.Name) && strings.HasPrefix(e.Name, p.Name) && leads(&p)
	}
	if isOwner(strings.TrimPrefix(e.Name, x.base)) || !slices.ContainsFunc(x.prefixes, isBelow) {
		return nil // it does not resolve anyway
	}
	err := x.rule(w, "@", order, 10, "", "", "!"+pattern+"!nowhere."+x.origin+"!")
	if isUnexportable(err) {
		x.skipped(e.String(), err)
		return nil
	}
	return err
}

// leads reports whether a prefix is active and has a target.
func leads(e *registry.Entry) bool { return e.Status == registry.Active && len(e.Targets) > 0 }

func (x *zoneExport) name(w *bufio.Writer, e *registry.Entry) error {
	of, err := x.all.resolved(e)
	if err != nil {
		return err
	}
	locations, err := targetsOf(of)
	if err != nil {
		return err
	}
	rest := strings.TrimPrefix(e.Name, x.base)
	owner, order, pattern := rest+".names", orderName, ".*"
	if !isDomain(rest) || len(rest)+len(".names.")+len(x.origin) > maxDomain {
		owner, pattern = "@", ereQuoted(e.Name)
	}
	for i, location := range locations {
		if err := x.location(w, owner, order, 10*(i+1), "^"+pattern+"$", replacement(location)); err != nil {
			return err
		}
	}
	return nil
}

// location writes a terminal rule.
func (x *zoneExport) location(w *bufio.Writer, owner string, order, preference int, pattern, location string) error {
	service := "+I2L"
	if strings.HasPrefix(location, "http") {
		service = "http+I2L"
	}
	return x.rule(w, owner, order, preference, "u", service, "!"+pattern+"!"+location+"!")
}

func (x *zoneExport) rule(
	w *bufio.Writer, owner string, order, preference int, flags, services, expression string,
) error {
	if len(expression) > maxExpression {
		return errExpression
	}
	if owner == "@" {
		if x.size += len(expression) + ruleOverhead; x.size > maxRules {
			return errFull
		}
	}
	escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(expression)
	_, err := fmt.Fprintf(w, "%s IN NAPTR %d %d %q %q \"%s\" .\n", owner, order, preference, flags, services, escaped)
	return err
}

func (x *zoneExport) end(w *bufio.Writer) error {
	slices.SortStableFunc(x.prefixes, func(a, b registry.Entry) int { return cmp.Compare(len(b.Name), len(a.Name)) })
	for i, e := range x.prefixes {
		if err := lostPattern(&e); err != nil {
			x.skipped(e.String(), err)
		}
		if e.Defers() {
			continue
		}
		err := x.prefix(w, &e, orderPrefix+i)
		if isUnexportable(err) {
			if leads(&e) {
				x.skipped(e.String(), err)
			}
			err = x.bar(w, &e, orderPrefix+i, "^"+ereQuoted(e.Name)+".+$")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *zoneExport) prefix(w *bufio.Writer, e *registry.Entry, order int) error {
	if rest := strings.TrimPrefix(e.Name, x.base); isOwner(rest) {
		return errShadowed
	}
	before, after, err := aroundSuffix(e)
	if err != nil {
		return err
	}
	location := replacement(before) + `\1` + replacement(after)
	return x.location(w, "@", order, 10, "^"+ereQuoted(e.Name)+"(.+)$", location)
}

// replacement escapes a text for a substitution expression that is delimited by exclamation marks.
func replacement(text string) string {
	return strings.NewReplacer(`\`, `\\`, "!", `\!`).Replace(text)
}

// ereQuoted returns a POSIX extended regular expression that matches a name. "urn" and the namespace match
// case-insensitively (RFC 8141 section 3.1).
func ereQuoted(name string) string {
	folded := 0 // bytes that match case-insensitively
	if rest, ok := strings.CutPrefix(name, "urn:"); ok {
		nid, _, _ := strings.Cut(rest, ":")
		folded = len("urn:") + len(nid)
	}
	var b strings.Builder
	for i, c := range []byte(name) {
		switch {
		case i < folded && unicode.IsLetter(rune(c)):
			fmt.Fprintf(&b, "[%c%c]", unicode.ToUpper(rune(c)), c)
		case strings.IndexByte(`\.[]{}()*+?|^$!`, c) >= 0:
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// isOwner reports whether a text consists of the bytes that the rule for names with their own records
// matches.
func isOwner(text string) bool {
	return !strings.ContainsFunc(text, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '-'
	})
}

// isDomain reports whether the rest of a name is a domain name in canonical form.
func isDomain(rest string) bool {
	if !isOwner(rest) {
		return false
	}
	for _, label := range strings.Split(rest, ".") {
		if label == "" || len(label) > maxLabel {
			return false
		}
	}
	return true
}
