package squidconf

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// logFormat records a format for access_log.
func (c *conversion) logFormat(d Directive) {
	name := d.argument(0)
	_, text, _ := strings.Cut(d.Text, name)
	if len(d.Words) < 2 {
		c.addUnconverted(d, "the name or format is missing", "log.access")
		return
	}
	c.formats[name] = strings.TrimSpace(text)
}

// accessLog converts a log: a file, options, the name of a format, and acls.
func (c *conversion) accessLog(d Directive) {
	words := d.Arguments()
	switch {
	case slices.Equal(words, []string{"none"}):
		return // equivalent to no log
	case len(words) == 0 || words[0] == "none":
		c.addUnconverted(d, "a log without a name, and requests that are not logged by acl: missing",
			"only, of log.access")
		return
	}
	name, acls := c.logWords(d)
	only, ok := c.logged(acls)
	if !ok {
		c.addUnconverted(d, "these acls as conditions of a log: missing",
			"only, of log.access, with statuses, hosts, clients, users and methods")
		return
	}
	entry := newTable(from(d))
	put(entry, "format", c.logFormatNamed(d, name))
	switch file := strings.TrimPrefix(strings.TrimPrefix(words[0], "stdio:"), "daemon:"); {
	case file == "syslog", strings.HasPrefix(file, "syslog:"):
		put(entry, "syslog", "unix:/dev/log")
	case strings.HasPrefix(file, "/"):
		put(entry, "file", path.Join("/var/log/urnd", path.Base(file)),
			"The directory must belong to the user of urnd.")
	default:
		c.addUnconverted(d, "logs by UDP and TCP as Squid sends them: missing", "syslog, of log.access")
		return
	}
	if len(only.Content) > 0 {
		put(entry, "only", only)
	}
	c.logs = append(c.logs, entry)
	c.document.set("log.access", c.logs)
}

// logWords returns the name of the format of a log, and its acls. The format is named by an option, or by the
// first word.
func (c *conversion) logWords(d Directive) (name string, acls []string) {
	acls = slices.DeleteFunc(d.Arguments()[1:], func(word string) bool { return strings.Contains(word, "=") })
	if name = d.options(1)["logformat"]; name != "" || len(acls) == 0 {
		return name, acls
	}
	if isACL := c.formats[acls[0]] == "" && c.acls.Named(strings.TrimPrefix(acls[0], "!")) != nil; isACL {
		return "", acls
	}
	return acls[0], acls[1:]
}

// logFormatNamed converts a format of Squid to the syntax of log.access. An unsupported one is reported, and
// replaced by Squid's default format.
func (c *conversion) logFormatNamed(d Directive, name string) string {
	const own = "squid"
	known := map[string]string{
		"": own, own: own, "auto": own, "combined": "squid_combined", "common": "squid_common",
		"referrer": "referrer", "useragent": "useragent",
	}
	text, isDefined := c.formats[name]
	switch format := "squid:" + text; {
	case known[name] != "":
		return known[name]
	case !isDefined:
		c.addUnconverted(d, "no logformat "+name+" is there: the log has that of Squid", "format, of log.access")
	default:
		err := c.files.CheckFormat(format)
		if err == nil {
			return format
		}
		c.addUnconverted(d, fmt.Sprintf("logformat %s: %v; the log has the format of Squid", name, err),
			"format, of log.access")
	}
	return own
}

// statusRange matches a status, or two joined by a hyphen.
var statusRange = regexp.MustCompile(`^[1-5][0-9][0-9](-[1-5][0-9][0-9])?$`)

// logged converts acls, which must all match, to conditions of a log; ok is false if logs have no such
// conditions.
func (c *conversion) logged(acls []string) (only *yaml.Node, ok bool) {
	only, all := newTable(), []cube{{}}
	for _, name := range acls {
		if a := c.acls.Named(name); a != nil && a.Type == "http_status" && len(only.Content) == 0 {
			statuses, ok := a.statuses()
			if !ok {
				return nil, false
			}
			put(only, "statuses", statuses)
			continue
		}
		means := c.literal(name, Position{}, 0)
		if all, ok = product(all, means.cubes); !ok || len(means.missing)+len(means.except) > 0 {
			return nil, false
		}
	}
	if len(all) != 1 {
		return nil, false
	}
	for kind, name := range conditionNames() {
		if v := all[0][kind]; v != nil {
			texts := v.plain(kind)
			if !slices.Contains([]int{ofClients, ofUsers, ofMethods, ofHosts}, kind) || len(v.files) > 0 ||
				len(texts) == 0 {
				return nil, false
			}
			put(only, name, texts)
		}
	}
	return only, true
}

// statuses returns the values of an acl of statuses in the syntax of settings.
func (a *ACL) statuses() (all []string, ok bool) {
	for _, item := range a.Items {
		first, last, _ := strings.Cut(item.Value, "-")
		if !statusRange.MatchString(item.Value) || last != "" && last < first {
			return nil, false
		}
		all = append(all, item.Value)
	}
	return all, len(all) > 0
}
