package config

import (
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The prefixes of access log templates.
const (
	apacheTemplate = "apache:"
	squidTemplate  = "squid:"
)

// AccessLogSetting returns the setting path of an access log.
func AccessLogSetting(i int) string { return index("log.access", i) }

// checkAccessFormat checks the name of a format. The package that writes access logs checks the tokens of
// templates.
func checkAccessFormat(f *Diagnostics, path string, value any) {
	format, _ := value.(string)
	names := []string{"json", "combined", "common", "squid", "squid_common", "squid_combined", "referrer", "useragent"}
	switch {
	case strings.HasPrefix(format, apacheTemplate), strings.HasPrefix(format, squidTemplate),
		slices.Contains(names, format):
	case strings.Contains(format, "%"):
		f.Add(path, "%q is a template of Apache or Squid: write %s or %s before it", format, apacheTemplate,
			squidTemplate)
	default:
		f.Add(path, "%q is neither %s, nor a template after %s or %s%s", format, oneOf(names), apacheTemplate,
			squidTemplate, didYouMean(format, names))
	}
}

// SyslogServer returns the network and address of the syslog server: "unixgram" and a path, or "udp" or "tcp"
// and host:port; "" for none.
func (l AccessLog) SyslogServer() (network, address string) {
	if path, isSocket := strings.CutPrefix(l.Syslog, UnixPrefix); isSocket {
		return "unixgram", path
	}
	network, address, _ = strings.Cut(l.Syslog, "://")
	return network, address
}

func checkSyslog(f *Diagnostics, path string, value any) {
	const form = "is not unix: and a path such as unix:/dev/log, or udp:// or tcp:// with a host and a port"
	text, _ := value.(string)
	network, address := AccessLog{Syslog: text}.SyslogServer()
	host, port, err := net.SplitHostPort(address)
	n, portErr := strconv.ParseUint(port, 10, 16)
	switch {
	case network == "unixgram" && strings.HasPrefix(address, "/"):
	case network != "udp" && network != "tcp":
		f.Add(path, "%q %s", text, form)
	case err != nil && isHost(strings.Trim(address, "[]")):
		f.Add(path, "%q has no port: write %s://%s:514", text, network, address)
	case err != nil || portErr != nil || n == 0 || !isHost(host):
		f.Add(path, "%q %s", text, form)
	}
}

// StatusRange parses a range of statuses in only.statuses, inclusive: "503", "4xx" or "400-499".
func StatusRange(text string) (least, most int, ok bool) {
	const first, last, class = 100, 599, 100
	if digit, isClass := strings.CutSuffix(strings.ToLower(text), "xx"); isClass {
		n, err := strconv.Atoi(digit)
		return n * class, n*class + class - 1, err == nil && n*class >= first && n*class <= last && len(digit) == 1
	}
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	least, err := strconv.Atoi(from)
	most, toErr := strconv.Atoi(to)
	return least, most, err == nil && toErr == nil && least >= first && least <= most && most <= last
}

func checkStatuses(f *Diagnostics, path string, value any) {
	statuses, _ := value.([]string)
	for i, text := range statuses {
		if _, _, ok := StatusRange(text); !ok {
			f.Add(index(path, i), "%q is not a status from 100 to 599, a class such as 4xx, or a range such as 400-499",
				text)
		}
	}
}

func checkAccessLogs(f *Diagnostics, all []AccessLog) {
	const most = 16
	if len(all) > most {
		f.Add("log.access", "has %d logs; the maximum is %d", len(all), most)
	}
	files, streams := make(map[string]int), 0
	for i, l := range all {
		path := AccessLogSetting(i)
		file := filepath.Clean(l.File)
		other, taken := files[file]
		switch {
		case l.File != "" && l.Syslog != "":
			f.Add(path+".syslog", "is set together with file: write one log for each")
		case l.File == "" && l.Syslog == "" && streams > 0:
			f.Add(path+".file", "is missing: only one log can use standard error")
		case l.File == "" && l.Syslog == "":
			streams++
		case l.File != "" && taken:
			f.Add(path+".file", "%q is also the file of %s: use one file per log", l.File, AccessLogSetting(other))
		case l.File != "":
			files[file] = i
		}
		checkKeep(f, path+".keep", l)
		checkRuleHosts(f, path+".only.hosts", l.Only.Hosts)
		checkEach(f, path+".only.users", l.Only.Users, isUser, "a user name without colon (RFC 7617 section 2)")
		checkEach(f, path+".only.methods", l.Only.Methods, isMethod,
			"a method in capitals, such as GET: methods are case-sensitive (RFC 9110 section 9.1)")
	}
}

func checkKeep(f *Diagnostics, path string, l AccessLog) {
	switch {
	case l.Keep > 0 && l.File == "":
		f.Add(path, "requires file: retention of other logs is up to their receiver")
	case l.Keep%day != 0:
		f.Add(path, "%s is not a whole number of days: write %s", showDuration(l.Keep),
			showDuration(l.Keep.Truncate(day)+day))
	}
}

// warnOfAccessLogs warns of syslog servers that urnd is not allowed to dial, and of conditions that never
// match.
func warnOfAccessLogs(f *Diagnostics, c Config) {
	for i, l := range c.Log.Access {
		network, address := l.SyslogServer()
		if network == "udp" || network == "tcp" {
			host, port, _ := net.SplitHostPort(address)
			if reason := c.refusal(host, port); reason != "" {
				f.Add(AccessLogSetting(i)+".syslog", "%s: all lines will be dropped", reason)
			}
		}
		warnOfHostBits(f, AccessLogSetting(i)+".only.clients", l.Only.Clients)
		warnOfRuleHosts(f, AccessLogSetting(i)+".only.hosts", l.Only.Hosts)
	}
}
