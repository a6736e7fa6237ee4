package squidconf

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// logFormat remembers a format, which access_log names.
func (c *conversion) logFormat(d Directive) {
	name := d.argument(0)
	_, text, _ := strings.Cut(d.Text, name)
	if len(d.Words) < 2 {
		c.lose(d, "it has no name and format", "log.access")
		return
	}
	c.formats[name] = strings.TrimSpace(text)
}

// accessLog carries a log over: a file, options, the name of a format and acls. The format may be named by an option, or be a bare word.
func (c *conversion) accessLog(d Directive) {
	words := d.Arguments()
	if len(words) == 0 || words[0] == "none" && len(words) > 1 {
		c.lose(d, "a log without a name, and requests that are not logged by acl: missing", "only, of log.access")
		return
	}
	options := d.options(1)
	acls := slices.DeleteFunc(words[1:], func(word string) bool { return strings.Contains(word, "=") })
	name := firstOf(options, "logformat")
	if name == "" && len(acls) > 0 && c.acls[strings.TrimPrefix(acls[0], "!")] == nil {
		name, acls = acls[0], acls[1:]
	}
	only, ok := c.logged(acls)
	if !ok {
		c.lose(d, "these acls as conditions of a log: missing", "only, of log.access, with statuses, hosts, clients, users and methods")
		return
	}
	const indent = "\n      "
	entry := "\n    # " + from(d) + "\n    - format: " + quote(c.logFormatNamed(d, name))
	module, file, hasModule := strings.Cut(words[0], ":")
	if !hasModule {
		file = module
	}
	switch {
	case words[0] == "none":
		return // as without a log
	case module == "syslog":
		entry += indent + "syslog: unix:/dev/log"
	case hasModule && module != "stdio" && module != "daemon" || !strings.HasPrefix(file, "/"):
		c.lose(d, "logs by UDP and TCP as Squid sends them: missing", "syslog, of log.access")
		return
	default:
		entry += indent + "# The directory must belong to the user of urnd." + indent + "file: " + quote(path.Join("/var/log/urnd", path.Base(file)))
	}
	if only != "" {
		entry += indent + "only:" + only
	}
	c.logs += entry
	c.document.set("log.access", c.logs)
}

// logFormatNamed returns a format of Squid as log.access has it, and reports one that it cannot have: the log then has Squid's own.
func (c *conversion) logFormatNamed(d Directive, name string) string {
	const own = "squid"
	known := map[string]string{"": own, own: own, "auto": own, "combined": "squid_combined", "common": "squid_common", "referrer": "referrer", "useragent": "useragent"}
	text, isDefined := c.formats[name]
	switch format := "squid:" + text; {
	case known[name] != "":
		return known[name]
	case !isDefined:
		c.lose(d, "no logformat "+name+" is there: the log has that of Squid", "format, of log.access")
	default:
		err := c.files.CheckFormat(format)
		if err == nil {
			return format
		}
		c.lose(d, fmt.Sprintf("logformat %s: %v; the log has the format of Squid", name, err), "format, of log.access")
	}
	return own
}

// statusRange is a status, or two joined by a hyphen.
var statusRange = regexp.MustCompile(`^[1-5][0-9][0-9](-[1-5][0-9][0-9])?$`)

// logged returns the conditions of a log for acls that must all hold, "" for none, and false where it has no such conditions.
func (c *conversion) logged(acls []string) (only string, ok bool) {
	const indent = "\n        "
	all := []cube{{}}
	for _, name := range acls {
		if a := c.acls[name]; a != nil && a.Type == "http_status" && only == "" {
			statuses := make([]string, len(a.Items))
			for i, item := range a.Items {
				first, last, _ := strings.Cut(item.Value, "-")
				if !statusRange.MatchString(item.Value) || last != "" && last < first {
					return "", false
				}
				statuses[i] = item.Value
			}
			only = indent + "statuses: " + list(statuses, indent[1:])
			continue
		}
		means := c.literal(name, Position{}, 0)
		if all, ok = product(all, means.cubes); !ok || len(means.missing)+len(means.except) > 0 {
			return "", false
		}
	}
	if len(all) != 1 {
		return "", false
	}
	for kind, name := range conditionNames() {
		v := all[0][kind]
		if v == nil {
			continue
		}
		texts := v.plain(kind)
		if !slices.Contains([]int{ofClients, ofUsers, ofMethods, ofHosts}, kind) || len(v.files)+len(v.copied) > 0 || len(texts) == 0 {
			return "", false
		}
		only += indent + name + ": " + list(texts, indent[1:])
	}
	return only, true
}
