package config

import (
	"net/netip"
	"strings"
	"unicode"
)

// maxReason bounds what a rule says to readers, in bytes.
const maxReason = 1000

const ruleIDOctets = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

func checkProxyRules(f *Faults, rules []ProxyRule) {
	const maxID = 64
	seen := make(map[string]bool)
	for i, r := range rules {
		path := index("proxy.rules", i)
		switch {
		case r.ID == "":
			f.Add(path+".id", "is missing")
		case len(r.ID) > maxID || strings.Trim(r.ID, ruleIDOctets) != "":
			f.Add(path+".id", "%.80q has other octets than letters, digits, \"-\", \"_\" and \".\", or more than %d", r.ID, maxID)
		case seen[r.ID]:
			f.Add(path+".id", "%q is the id of another rule too", r.ID)
		}
		seen[r.ID] = true
		if r.Action == "" {
			f.Add(path+".action", "is missing: it is allow or deny")
		}
		checkEach(f, path+".users", r.Users, isUser, "the name of a user, which has no colon (RFC 7617 section 2)")
		checkEach(f, path+".methods", r.Methods, isMethod,
			"a method in capitals, such as GET: methods are case-sensitive (RFC 9110 section 9.1)")
		checkEach(f, path+".schemes", r.Schemes, isScheme, "a scheme such as http, or connect: write it without ://")
		checkRuleHosts(f, path+".hosts", r.Hosts)
		if len(r.Reason) > maxReason || strings.ContainsFunc(r.Reason, unicode.IsControl) {
			f.Add(path+".reason", "has more than %d bytes, or a control character: write one paragraph", maxReason)
		} else if r.Reason != "" && r.Action == "allow" {
			f.Add(path+".reason", "is for requests that are denied, and the action is allow")
		}
	}
}

// checkEach checks each text of a list.
func checkEach(f *Faults, path string, texts []string, is func(string) bool, what string) {
	for i, text := range texts {
		if !is(text) {
			f.Add(index(path, i), "%q is not %s", text, what)
		}
	}
}

func isUser(s string) bool { return s != "" && !strings.Contains(s, ":") }

// isMethod reports whether a text is a token without small letters (RFC 9110 section 5.6.2).
func isMethod(s string) bool {
	return s != "" && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~") == ""
}

func isScheme(s string) bool {
	return s != "" && strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789+-.") == ""
}

const digits = "0123456789"

func checkRuleHosts(f *Faults, path string, hosts []string) {
	for i, host := range hosts {
		name := strings.TrimPrefix(host, ".")
		if strings.Trim(host, digits+".") != "" && isDomain(name) {
			continue // as most are: to try what else it may be makes errors
		}
		at := index(path, i)
		if prefix, err := netip.ParsePrefix(host); err == nil {
			if prefix.Addr().Is4In6() {
				f.Add(at, "%s is an IPv4 network in IPv6 form: write it as IPv4", prefix)
			}
			continue
		}
		if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
			continue
		}
		switch {
		case host != "" && strings.Trim(host, "*") == "":
			f.Add(at, "%q stands for names without a dot: leave hosts out for a rule about all of them", host)
		case strings.ContainsAny(host, digits) && strings.Trim(host, digits+".*?") == "":
			f.Add(at, "%q is no address, and a pattern is for names: write a range such as 192.0.2.0/24", host)
		case !isDomain(strings.NewReplacer("*", "a", "?", "a").Replace(name)):
			f.Add(at, "%q is not a host such as www.example.org, .example.org, *.example.org, 192.0.2.1 or 2001:db8::/32, "+
				"without scheme and port%s; other scripts are written as in xn--bcher-kva.example", host, writeRuleHost(host))
		case strings.ContainsAny(host, "*?") && name != host:
			f.Add(at, "%q is a pattern, which has no dot at its start", host)
		}
	}
}

// writeRuleHost returns what to write for a URL, or for a host with a port.
func writeRuleHost(text string) string {
	if help := writeHost(text, ""); len(help) > len(": ") {
		return help + ", and the port in ports of a rule"
	}
	return ""
}
