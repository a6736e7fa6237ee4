package squidconf

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// options returns the options of a line after its first words: name=value, or a name with an empty value.
func (d Directive) options(from int) map[string]string {
	all := make(map[string]string)
	words := d.Arguments()
	for _, word := range words[min(from, len(words)):] {
		name, value, _ := strings.Cut(word, "=")
		all[name] = value
	}
	return all
}

func firstOf(options map[string]string, names ...string) string {
	for _, name := range names {
		if value := options[name]; value != "" {
			return value
		}
	}
	return ""
}

// httpPort converts a listener.
func (c *conversion) httpPort(d Directive) {
	options := d.options(1)
	const pac, tls = "/proxy.pac, with which browsers find the proxy (proxy.pac_proxies)",
		"listen.tls, tls.certificate and tls.key"
	for _, missing := range [...]struct{ option, instead string }{
		{"intercept", pac},
		{"transparent", pac},
		{"tproxy", pac},
		{"ssl-bump", pac},
		{"cert", tls},
		{"tls-cert", tls},
		{"require-proxy-header", "listen.proxy_protocol"},
	} {
		if _, ok := options[missing.option]; ok {
			c.addUnconverted(d, missing.option+": missing", missing.instead)
			return
		}
	}
	address, port := d.argument(0), d.argument(0)
	host, behind, err := net.SplitHostPort(address)
	if err == nil {
		port = behind
	}
	_, isAddress := parseAddress(host)
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || host != "" && !isAddress && !isName(host) {
		c.addUnconverted(d, "the port is not a number from 1 to 65535, or the host is invalid", "listen.service")
		return
	}
	if host == "" {
		host = "::" // includes all IPv4 addresses
	}
	c.add(d, "listen.service", net.JoinHostPort(host, port))
}

// argument returns a word by its index, "" if there are fewer.
func (d Directive) argument(i int) string {
	if i < len(d.Words) {
		return d.Words[i].Text
	}
	return ""
}

// add appends values to a setting that several lines set.
func (c *conversion) add(d Directive, setting string, values ...string) {
	c.seen[setting] = append(c.seen[setting], values...)
	c.set(d, setting, c.seen[setting])
}

func (c *conversion) hostname(d Directive) {
	if name := d.argument(0); isName(strings.ToLower(name)) && !strings.HasPrefix(name, ".") {
		c.set(d, "listen.names", []string{name})
		return
	}
	c.addUnconverted(d, "it is not a host name", "listen.names")
}

func (c *conversion) forwardedFor(d Directive) {
	modes := map[string]string{"on": "x-forwarded-for", "off": "off", "delete": "off", "transparent": "transparent"}
	mode := modes[d.argument(0)]
	if mode == "" {
		mode = "off"
		c.addUnconverted(d, "this mode: missing", "proxy.forwarded")
	}
	c.set(d, "proxy.forwarded", mode)
}

func (c *conversion) via(d Directive) {
	if d.argument(0) == "off" {
		c.addUnconverted(d, "Via is always sent (RFC 9110 section 7.6.3)", "nothing: without it loops are not found")
	}
}

func (c *conversion) nameServers(d Directive) {
	for _, word := range d.Arguments() {
		if _, err := netip.ParseAddr(word); err != nil {
			c.addUnconverted(d, "a name server is an address", "dns.servers")
			continue
		}
		c.add(d, "dns.servers", word)
	}
}

// units maps units, without a final s, to their values.
type units map[string]float64

func seconds() units {
	return units{
		"": 1, "millisecond": 0.001, "second": 1, "minute": 60, "hour": 3600, "day": 86400, "week": 604800,
		"fortnight": 1209600,
	}
}

func bytes() units {
	return units{"": 1, "byte": 1, "b": 1, "kb": 1 << 10, "mb": 1 << 20, "gb": 1 << 30}
}

// amount parses a number with an optional unit.
func (u units) amount(words []string) (float64, bool) {
	words = append(slices.Clone(words), "", "")
	unit := u[strings.TrimSuffix(strings.ToLower(words[1]), "s")]
	n, err := strconv.ParseFloat(words[0], 64)
	return n * unit, err == nil && unit > 0 && n >= 0 && n*unit < 1<<40
}

// to returns a function that converts a number to a setting, within its bounds.
func (u units) to(setting string, least, most float64, text func(int64) any) func(*conversion, Directive) {
	return func(c *conversion, d Directive) {
		if n, ok := u.amount(d.Arguments()); ok {
			c.set(d, setting, text(int64(min(max(n, least), most))))
			return
		}
		c.addUnconverted(d, "it is not a number with a unit", setting)
	}
}

// timeout returns a function that converts a duration to a setting, within its bounds in seconds.
func timeout(setting string, least, most float64) func(*conversion, Directive) {
	return seconds().to(setting, least, most, func(n int64) any { return strconv.FormatInt(n, 10) + "s" })
}

func plainNumber(n int64) any { return n }

// sizeText returns a size in the syntax of settings.
func sizeText(size int64) any {
	switch {
	case size >= 1<<20 && size%(1<<20) == 0:
		return strconv.FormatInt(size>>20, 10) + "MiB"
	case size >= 1<<10:
		return strconv.FormatInt(size>>10, 10) + "KiB"
	}
	return strconv.FormatInt(size, 10) + "B"
}

// cacheMemory converts the size of the memory cache. A response has at most an eighth of it; the default of
// urnd is 8 MiB.
func (c *conversion) cacheMemory(d Directive) {
	const least, byDefault = 8 << 10, 8 << 20
	n, ok := bytes().amount(d.Arguments())
	isOff := slices.ContainsFunc(c.directives, func(d Directive) bool {
		return d.Name == "cache" && slices.Equal(d.Arguments(), []string{"deny", "all"})
	})
	switch {
	case !ok:
		c.addUnconverted(d, "it is not a size", "cache.responses")
		return
	case isOff:
		return
	}
	size := int64(n)
	if size < least {
		size = 0 // an eighth would be below the minimum of cache.max_response
	}
	c.set(d, "cache.responses", sizeText(size))
	if size > 0 && size/8 < byDefault {
		c.document.set("cache.max_response", sizeText(size/8), "at most an eighth of cache.responses")
	}
}

func (c *conversion) cacheDirectory(d Directive) {
	megabytes, ok := bytes().amount([]string{d.argument(2), "MB"})
	if !ok {
		c.addUnconverted(d, "the size is missing, or more than 1 TB", "cache.disk")
		return
	}
	c.disk += int64(megabytes)
	c.document.set("cache.disk", sizeText(c.disk), from(d),
		"The directory is that of the service; elsewhere set cache.disk_directory, to an empty one.")
}

func (c *conversion) cacheAccess(d Directive) {
	switch strings.Join(d.Arguments(), " ") {
	case "deny all":
		c.set(d, "cache.responses", "0B")
	case "allow all":
	default:
		c.addUnconverted(d, "what is cached by acls: missing", "cache with never, of proxy.sites")
	}
}

// refresh converts the pattern for all URLs. Other patterns of Debian's configuration are not needed by urnd.
func (c *conversion) refresh(d Directive) {
	words := slices.DeleteFunc(d.Arguments(), func(word string) bool { return word == "-i" || word == "+i" })
	if len(words) < 4 {
		c.addUnconverted(d, "the pattern or one of three numbers is missing",
			"cache.heuristic_percent and cache.heuristic_max")
		return
	}
	percent, percentErr := strconv.Atoi(strings.TrimSuffix(words[2], "%"))
	minutes, minutesErr := strconv.Atoi(words[3])
	switch pattern, least := words[0], words[1]; {
	case strings.HasPrefix(pattern, "^ftp:"), strings.HasPrefix(pattern, "^gopher:"):
		c.unneeded(d, "listings and files of gateways are fresh for gateways.ttl")
	case pattern == `(/cgi-bin/|\?)` && least == "0" && percent == 0:
		c.unneeded(d,
			"responses with neither a lifetime nor a modification time are not stored (RFC 9111 section 4.2.2)")
	case pattern != "." || least != "0" || percentErr != nil || minutesErr != nil || len(words) > 4:
		c.addUnconverted(d, "lifetimes by pattern, least ones, and options: missing",
			"cache with min_ttl and max_ttl, of proxy.sites")
	default:
		c.set(d, "cache.heuristic_percent", min(max(percent, 0), 100))
		c.set(d, "cache.heuristic_max", strconv.Itoa(min(max(minutes, 0), 8760*60))+"m")
	}
}
