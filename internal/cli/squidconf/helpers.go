package squidconf

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// passwordFile is the path that replaces a password of an LDAP program: passwords of squid.conf are not
// printed.
const passwordFile = "/etc/urnd/ldap-password" //nolint:gosec // only the path

// withoutPassword returns the command of one of Squid's LDAP programs without its password, and whether it
// had one.
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

// newHelper returns the helper entry for the program of a line.
func (c *conversion) newHelper(d Directive, kind string, command []string) *yaml.Node {
	safe, found := withoutPassword(command)
	if found {
		c.addUnconverted(d, "the password of -w is not shown", "write it to "+passwordFile+", which only urnd can read")
	}
	helper := newTable(from(d))
	put(helper, "for", kind)
	put(helper, "command", safe)
	return helper
}

// login converts a line of auth_param: a users file whose hashes urnd verifies, or a helper program.
func (c *conversion) login(d Directive) {
	words := d.Arguments()
	switch scheme := strings.ToLower(d.argument(0)); {
	case len(words) < 3:
		c.addUnconverted(d, "the scheme, parameter or value is missing", "access.proxy_users")
	case scheme == "negotiate":
		c.negotiateParameter(d, words[1], words[2:])
	case scheme != "basic":
		c.addUnconverted(d, scheme+": missing", "access.helpers, for passwords or negotiate")
	case words[1] != "program":
		c.basicParameter(d, words[1], words[2:])
	case !strings.HasPrefix(words[2], "/"):
		c.addUnconverted(d, "the program is missing", "access.helpers")
	case path.Base(words[2]) == "basic_ncsa_auth" && len(words) == 4 && c.isVerified(words[3]):
		c.usersFile = words[3]
		c.set(d, "access.proxy_users", words[3])
	default:
		c.passwords, c.foldsUsers = c.newHelper(d, "passwords", words[2:]), true
	}
}

// isVerified reports whether urnd can verify all hashes of a users file. Otherwise Squid's program has to,
// also for users with capital letters, who cannot log in to Squid unless casesensitive is on.
func (c *conversion) isVerified(name string) bool {
	lines, err := readList(c.files, name)
	return err == nil && len(lines) > 0 && !slices.ContainsFunc(lines, func(line string) bool {
		name, hash, _ := strings.Cut(line, ":")
		return !strings.HasPrefix(hash, "$2") || name != strings.ToLower(name)
	})
}

// basicParameter converts a parameter of auth_param basic.
func (c *conversion) basicParameter(d Directive, name string, values []string) {
	h := c.passwords
	switch {
	case name == "realm":
		c.unneeded(d, "realm: urnd has its own realm")
		return
	case h == nil: // urnd reads the users file itself
		c.unneeded(d, name+": urnd verifies passwords itself")
		return
	case name == "children":
		put(h, "processes", numberOf(values[0], 256))
		for _, option := range values[1:] {
			if value, ok := strings.CutPrefix(option, "concurrency="); ok {
				put(h, "concurrency", numberOf(value, 1000))
			}
		}
	case name == "credentialsttl":
		put(h, "ttl", ttlOf(values))
	case name == "casesensitive":
		if c.foldsUsers = values[0] != "on"; !c.foldsUsers {
			put(h, "case_sensitive", true)
		}
	default:
		c.addUnconverted(d, "basic "+name+": missing", "access.helpers")
		return
	}
	h.HeadComment += "\n" + from(d)
}

// negotiateParameter converts a parameter of auth_param negotiate.
func (c *conversion) negotiateParameter(d Directive, name string, values []string) {
	switch h := c.negotiate; {
	case name == "program" && strings.HasPrefix(values[0], "/"):
		c.negotiate = c.newHelper(d, "negotiate", values)
	case name == "program":
		c.addUnconverted(d, "the program is missing", "access.helpers")
	case name == "keep_alive":
		c.unneeded(d, "negotiate keep_alive: connections stay open")
	case name == "children" && h != nil: // without concurrency, as in Squid
		put(h, "processes", numberOf(values[0], 256))
		h.HeadComment += "\n" + from(d)
	default:
		c.addUnconverted(d, "negotiate "+name+": missing", "access.helpers")
	}
}

// numberOf parses a number up to most, 0 if it is invalid.
func numberOf(text string, most uint64) uint64 {
	n, _ := strconv.ParseUint(text, 10, 32)
	return min(n, most)
}

// ttlOf converts a duration to the syntax of settings, "" if it is invalid.
func ttlOf(words []string) string {
	seconds, ok := seconds().amount(words)
	if !ok || seconds < 1 {
		return ""
	}
	const most = 24 * time.Hour
	return strconv.FormatInt(int64(min(seconds, most.Seconds())), 10) + "s"
}

// externalType converts a program that reports whether a user is in a group. Other external programs are
// reported as lost.
func (c *conversion) externalType(d Directive) {
	words := d.Arguments()
	program := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, "/") })
	if program < 1 {
		c.addUnconverted(d, "the name or program is missing", "access.helpers")
		return
	}
	var format []string
	options := make(map[string]string)
	for _, word := range words[1:program] {
		key, value, isOption := strings.Cut(word, "=")
		if !isOption {
			format = append(format, word)
		}
		options[key] = value
	}
	switch isGroup := slices.Equal(format, []string{"%LOGIN"}) || slices.Equal(format, []string{"%un"}); {
	case !isGroup || firstOf(options, "protocol", "quote") != "":
		c.addUnconverted(d, "programs that are asked for other than the user and a group: missing",
			"rules by clients, hosts, paths and times")
	case c.groups != nil:
		c.addUnconverted(d, "a second program for groups: missing", "access.helpers, with one for groups")
	default:
		h := c.newHelper(d, "groups", words[program:])
		put(h, "processes", numberOf(firstOf(options, "children-max", "children"), 256))
		put(h, "concurrency", numberOf(options["concurrency"], 1000))
		put(h, "ttl", ttlOf([]string{options["ttl"]}))
		put(h, "negative_ttl", ttlOf([]string{options["negative_ttl"]}))
		c.groups, c.groupType = h, words[0]
	}
}

// external converts an external acl to a condition on groups.
func (c *conversion) external(a *ACL, means *condition) {
	means.login = true
	if c.groups == nil || len(a.Items) < 2 || a.Items[0].Value != c.groupType || !c.canLogIn() {
		means.addUnconverted(a, a.Position, "acls of programs but those for groups, of users who log in: missing",
			"access.helpers")
		return
	}
	holds := new(values)
	for _, item := range a.Items[1:] {
		if !utf8.ValidString(item.Value) {
			means.addUnconverted(a, item.At, errNotUTF8.Error(), "groups")
			continue
		}
		if item.List != "" || strings.ContainsAny(item.Value, ": \t") {
			means.addUnconverted(a, item.At, "groups from a file, or with spaces: missing", "groups")
			continue
		}
		holds.texts = append(holds.texts, item.Value)
	}
	slices.Sort(holds.texts)
	holds.texts = slices.Compact(holds.texts)
	means.cubes = []cube{one(ofGroups, holds)}
}

// canLogIn reports whether the configuration has a login.
func (c *conversion) canLogIn() bool {
	return c.usersFile != "" || c.passwords != nil || c.negotiate != nil
}

// helpers writes access.helpers.
func (c *conversion) helpers() {
	all := slices.DeleteFunc([]*yaml.Node{c.passwords, c.negotiate, c.groups},
		func(helper *yaml.Node) bool { return helper == nil })
	if len(all) > 0 {
		c.document.set("access.helpers", all)
	}
}
