package squidconf

import (
	"path"
	"strings"
)

// logFormat remembers a format, which access_log names.
func (c *conversion) logFormat(d Directive) {
	words := d.Arguments()
	if len(words) < 2 {
		c.lose(d, "it has no name and format", "log.access")
		return
	}
	_, text, _ := strings.Cut(d.Text, words[0])
	c.formats[words[0]] = strings.TrimSpace(text)
}

// accessLog carries a log over.
func (c *conversion) accessLog(d Directive) {
	words := d.Arguments()
	if len(words) == 0 {
		c.lose(d, "it names no log", "log.access")
		return
	}
	format, ok := formatOf(words[1:])
	if !ok || words[0] == "none" && len(words) > 1 {
		c.lose(d, "logs by acl: missing", "only, of log.access")
		return
	}
	if words[0] == "none" {
		return // as without a log
	}
	file := words[0]
	module, rest, hasModule := strings.Cut(file, ":")
	if hasModule && (module == "stdio" || module == "daemon") {
		file = rest
	}
	name := c.formatNamed(format)
	const indent = "\n      "
	entry := "\n    # " + from(d) + "\n    - format: " + quote(name)
	switch {
	case name == "":
		c.lose(d, "no logformat "+format+" is there", "log.access, with a format")
		return
	case module == "syslog":
		entry += indent + "syslog: unix:/dev/log"
	case !strings.HasPrefix(file, "/") || strings.HasPrefix(file, "//"):
		c.lose(d, "logs by UDP and TCP as Squid sends them: missing", "syslog, of log.access")
		return
	default:
		entry += indent + "# The directory must belong to the user of urnd." + indent + "file: " + quote(path.Join("/var/log/urnd", path.Base(file)))
	}
	c.logs += entry
	c.document.set("log.access", c.logs)
}

// formatNamed returns a format of Squid as log.access has it, "" for one that is not there.
func (c *conversion) formatNamed(name string) string {
	known := map[string]string{
		"squid": "squid", "combined": "squid_combined", "common": "squid_common", "auto": "squid", "referrer": "referrer", "useragent": "useragent",
	}
	switch text := c.formats[name]; {
	case known[name] != "":
		return known[name]
	case text != "":
		return "squid:" + text
	default:
		return ""
	}
}

// formatOf returns the format that the words behind a log name, and false where it is for some acls alone.
func formatOf(words []string) (format string, ok bool) {
	format = "squid"
	for i, word := range words {
		switch name, value, isOption := strings.Cut(word, "="); {
		case isOption && name == "logformat":
			format = value
		case isOption:
		case i == 0:
			format = word
		default:
			return "", false
		}
	}
	return format, true
}
