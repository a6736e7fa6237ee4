package squidconf

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// helper is a program of access.helpers.
type helper struct {
	kind        string // "passwords", "negotiate" or "groups"
	from        []string
	command     []string
	processes   string
	concurrency string
	ttl         string
	negativeTTL string
	hasCase     bool
}

// text returns the helper as an entry of a list.
func (h *helper) text() string {
	const indent = "\n      "
	var text strings.Builder
	for _, line := range h.from {
		text.WriteString("\n    # " + line)
	}
	text.WriteString("\n    - for: " + h.kind + indent + "command: " + list(h.command, indent[1:]))
	for _, one := range [...]struct{ key, value string }{
		{"processes", h.processes}, {"concurrency", h.concurrency}, {"ttl", h.ttl}, {"negative_ttl", h.negativeTTL},
	} {
		if one.value != "" {
			text.WriteString(indent + one.key + ": " + one.value)
		}
	}
	if h.hasCase {
		text.WriteString(indent + "case_sensitive: true")
	}
	return text.String()
}

// passwordFile is where the password of a directory is asked for: those of squid.conf are not printed.
const passwordFile = "/etc/urnd/ldap-password" //nolint:gosec // the path alone

// withoutPassword returns the arguments of a program of Squid for LDAP without a password, and whether there was one.
func withoutPassword(command []string) (safe []string, found bool) {
	if !strings.Contains(path.Base(command[0]), "ldap") {
		return command, false
	}
	for i := 0; i < len(command); i++ {
		switch word := command[i]; {
		case word == "-w" && i+1 < len(command):
			i++
			safe, found = append(safe, "-W", passwordFile), true
		case i > 0 && strings.HasPrefix(word, "-w") && len(word) > len("-w"):
			safe, found = append(safe, "-W", passwordFile), true
		default:
			safe = append(safe, word)
		}
	}
	return safe, found
}

// newHelper makes a helper of the program of a line.
func (c *conversion) newHelper(d Directive, kind string, command []string) *helper {
	safe, found := withoutPassword(command)
	if found {
		c.lose(d, "the password of -w is not shown", "write it to "+passwordFile+", which only urnd can read")
	}
	return &helper{kind: kind, from: []string{from(d)}, command: safe}
}

// passwordProgram carries a program over that knows passwords.
func (c *conversion) passwordProgram(d Directive, command []string) {
	c.passwords = c.newHelper(d, "passwords", command)
}

// basicParameter carries a parameter of auth_param basic over.
func (c *conversion) basicParameter(d Directive, name string, values []string) {
	h := c.passwords
	switch {
	case name == "realm":
		c.result.Unneeded = append(c.result.Unneeded, Loss{d.Position, "auth_param basic realm", "urnd names its realm itself", ""})
	case h == nil: // users are in a file, which urnd reads
		c.result.Unneeded = append(c.result.Unneeded, Loss{d.Position, "auth_param basic " + name, "urnd verifies passwords itself", ""})
	case name == "children" && len(values) > 0:
		h.from = append(h.from, from(d))
		h.processes = numberOf(values[0], 256)
		for _, option := range values[1:] {
			if value, ok := strings.CutPrefix(option, "concurrency="); ok {
				h.concurrency = numberOf(value, 1000)
			}
		}
	case name == "credentialsttl":
		h.from = append(h.from, from(d))
		h.ttl = ttlOf(values)
	case name == "casesensitive":
		h.from = append(h.from, from(d))
		h.hasCase = slices.Equal(values, []string{"on"})
	default:
		c.lose(d, "basic "+name+": missing", "access.helpers")
	}
}

// negotiateParameter carries a parameter of auth_param negotiate over.
func (c *conversion) negotiateParameter(d Directive, name string, values []string) {
	switch h := c.negotiate; {
	case name == "program" && len(values) > 0 && strings.HasPrefix(values[0], "/"):
		c.negotiate = c.newHelper(d, "negotiate", values)
	case name == "program":
		c.lose(d, "it has no program", "access.helpers")
	case name == "keep_alive":
		c.result.Unneeded = append(c.result.Unneeded, Loss{d.Position, "auth_param negotiate keep_alive", "connections stay", ""})
	case name == "children" && len(values) > 0 && h != nil: // with a concurrency of none, as Squid has it
		h.from = append(h.from, from(d))
		h.processes = numberOf(values[0], 256)
	default:
		c.lose(d, "negotiate "+name+": missing", "access.helpers")
	}
}

// numberOf returns a number within bounds, "" for what is none.
func numberOf(text string, most uint64) string {
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n == 0 {
		return ""
	}
	return strconv.FormatUint(min(n, most), 10)
}

// ttlOf returns a duration as settings have it, "" for what is none.
func ttlOf(words []string) string {
	seconds, ok := secondsOf(words)
	if !ok || seconds < 1 {
		return ""
	}
	const most = 24 * time.Hour
	return strconv.FormatInt(int64(min(seconds, most.Seconds())), 10) + "s"
}

// externalType carries a program over that is asked for the user and the words of an acl: whether it is in a group.
func (c *conversion) externalType(d Directive) {
	words := d.Arguments()
	if len(words) == 0 {
		c.lose(d, "it has no name", "access.helpers")
		return
	}
	name, rest := words[0], words[1:]
	var format []string
	options := make(map[string]string)
	program := slices.IndexFunc(rest, func(word string) bool { return strings.HasPrefix(word, "/") })
	if program < 0 {
		c.lose(d, "it has no program", "access.helpers")
		return
	}
	for _, word := range rest[:program] {
		if strings.HasPrefix(word, "%") {
			format = append(format, word)
			continue
		}
		key, value, _ := strings.Cut(word, "=")
		options[key] = value
	}
	_, isOld := options["protocol"]
	_, isShell := options["quote"]
	isGroup := len(format) == 1 && (format[0] == "%LOGIN" || format[0] == "%un")
	switch {
	case !isGroup || isOld || isShell:
		c.lose(d, "programs that are asked for other than the user and a group: missing", "rules by clients, hosts, paths and times")
		return
	case c.groupHelper != nil:
		c.lose(d, "a second program for groups: missing", "access.helpers, with one for groups")
		return
	}
	h := c.newHelper(d, "groups", rest[program:])
	h.processes = numberOf(firstOf(options, "children-max", "children"), 256)
	h.concurrency = numberOf(options["concurrency"], 1000)
	h.ttl, h.negativeTTL = ttlOf([]string{options["ttl"]}), ttlOf([]string{options["negative_ttl"]})
	c.groupHelper, c.groupType = h, name
}

// external makes the groups of an acl a condition.
func (c *conversion) external(a *ACL, means *condition) {
	means.login = true
	if c.groupHelper == nil || len(a.Items) < 2 || a.Items[0].Value != c.groupType || !c.canLogIn() {
		means.lose(a, a.Position, "acls of programs but those for groups, of users who log in: missing", "access.helpers")
		return
	}
	var holds cube
	for _, item := range a.Items[1:] {
		if item.List != "" || strings.ContainsAny(item.Value, ": \t") {
			means.lose(a, item.At, "groups from a file, or with spaces: missing", "groups")
			continue
		}
		holds.texts[groups] = append(holds.texts[groups], item.Value)
	}
	if len(holds.texts[groups]) > 0 {
		slices.Sort(holds.texts[groups])
		holds.texts[groups] = slices.Compact(holds.texts[groups])
		means.cubes = append(means.cubes, holds)
	}
}

// canLogIn reports whether clients can log in.
func (c *conversion) canLogIn() bool {
	return c.usersFile != "" || c.passwords != nil || c.negotiate != nil
}

// helpers writes the programs.
func (c *conversion) helpers() {
	var text strings.Builder
	for _, h := range [...]*helper{c.passwords, c.negotiate, c.groupHelper} {
		if h != nil {
			text.WriteString(h.text())
		}
	}
	if text.Len() > 0 {
		c.document.set("access.helpers", text.String())
	}
}
