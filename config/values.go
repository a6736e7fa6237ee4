package config

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/urnd/urnd/config/source"
)

// Server is a DNS server: "192.0.2.1", "[2001:db8::1]:5353", or over TLS "tls://192.0.2.1:853#dns.example",
// with the name in its certificate. The default port is 53, over TLS 853. Host names are not allowed: resolving
// one would need a DNS server.
type Server struct {
	netip.AddrPort
	TLS  bool
	Name string // in the certificate; "" if the certificate is for the address
}

const tlsPrefix = "tls://"

// UnmarshalText parses a server.
func (s *Server) UnmarshalText(text []byte) error {
	address, overTLS := strings.CutPrefix(string(text), tlsPrefix)
	port := uint16(53)
	read := Server{TLS: overTLS}
	if overTLS {
		port = 853
		address, read.Name, _ = strings.Cut(address, "#")
	}
	if addr, err := netip.ParseAddr(address); err == nil {
		read.AddrPort = netip.AddrPortFrom(addr, port)
	} else if read.AddrPort, err = netip.ParseAddrPort(address); err != nil {
		return fmt.Errorf("%q is not an IP address, with or without port, or tls:// and one%s", text,
			ofServer(string(text)))
	}
	*s = read
	return nil
}

// ofServer returns the suggestion for an invalid server address.
func ofServer(text string) string {
	host, _, hasName := strings.Cut(text, "#")
	_, err := netip.ParseAddr(host)
	switch {
	case hasName && err == nil:
		return ": write tls://" + text
	case hostIn(text) != "":
		return ": host names are not supported"
	}
	return ""
}

// String formats the server for UnmarshalText.
func (s Server) String() string {
	switch {
	case !s.TLS:
		return s.AddrPort.String()
	case s.Name == "":
		return tlsPrefix + s.AddrPort.String()
	default:
		return tlsPrefix + s.AddrPort.String() + "#" + s.Name
	}
}

// MarshalText returns String.
func (s Server) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// AppendText appends String. Without it that of AddrPort would be promoted, which encoding/json prefers since Go 1.27.
func (s Server) AppendText(b []byte) ([]byte, error) { return append(b, s.String()...), nil }

// Agent is the address of an SLP directory agent. The default port is 427.
type Agent struct {
	netip.AddrPort
}

// UnmarshalText parses an address with or without port.
func (a *Agent) UnmarshalText(text []byte) error {
	if addr, err := netip.ParseAddr(string(text)); err == nil {
		a.AddrPort = netip.AddrPortFrom(addr, 427)
		return nil
	}
	addrPort, err := netip.ParseAddrPort(string(text))
	if err != nil {
		return fmt.Errorf("%q is not an IP address, with or without port%s", text, ofServer(string(text)))
	}
	a.AddrPort = addrPort
	return nil
}

// PortRange is a port, "443", or an inclusive range of ports, "8000-8999".
type PortRange struct {
	First, Last uint16
}

// UnmarshalText parses a port or a range.
func (p *PortRange) UnmarshalText(text []byte) error {
	first, last, isRange := strings.Cut(string(text), "-")
	if !isRange {
		last = first
	}
	for _, port := range []string{first, last} {
		if message := source.NotDecimal(port); message != "" {
			return errors.New(message)
		}
	}
	from, err := strconv.ParseUint(first, 10, 16)
	to, lastErr := strconv.ParseUint(last, 10, 16)
	if err != nil || lastErr != nil || from > to {
		help := ""
		if strings.Contains(string(text), ",") {
			all := strings.FieldsFunc(string(text), func(c rune) bool { return c == ',' || c == ' ' })
			help = fmt.Sprintf(": write [%s]", strings.Join(all, ", "))
		}
		return fmt.Errorf("%q is not a port, such as 443, or a range of ports, such as 8000-8999%s", text, help)
	}
	*p = PortRange{uint16(from), uint16(to)}
	return nil
}

// String formats the range for UnmarshalText.
func (p PortRange) String() string {
	if p.First == p.Last {
		return strconv.Itoa(int(p.First))
	}
	return fmt.Sprintf("%d-%d", p.First, p.Last)
}

// MarshalText returns String.
func (p PortRange) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// Size is a number of bytes, written "64MiB" or as plain digits.
type Size int64

// UnmarshalText parses the sizes of humanize.ParseBytes.
func (s *Size) UnmarshalText(text []byte) error {
	n, err := humanize.ParseBytes(string(text))
	if strings.HasPrefix(string(text), "/") {
		return fmt.Errorf("%q is not a size such as 64MiB: paths belong into cache.disk_directory", text)
	}
	if err != nil || n > 1<<62 {
		return fmt.Errorf("%q is not a size such as 64MiB", text)
	}
	*s = Size(n)
	return nil
}

// MarshalText formats a size so that it parses to the same number.
func (s Size) MarshalText() ([]byte, error) {
	for _, unit := range []struct {
		name  string
		bytes Size
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if s != 0 && s%unit.bytes == 0 {
			return fmt.Appendf(nil, "%d%s", s/unit.bytes, unit.name), nil
		}
	}
	return fmt.Appendf(nil, "%dB", int64(s)), nil
}

// InRanges returns a function that reports whether a port is in any of the ranges.
func InRanges(ranges []PortRange) func(port uint16) bool {
	return func(port uint16) bool {
		return slices.ContainsFunc(ranges, func(r PortRange) bool { return r.First <= port && port <= r.Last })
	}
}

// Window is a time span on days of the week, "Mon-Fri 08:00-18:00". The zero value is never.
type Window struct {
	Days [7]bool // days on which it starts, by time.Weekday
	// From and To are minutes since midnight, at most 1440. If To is not after From, it ends on the next day.
	From, To int
}

const minutesOfDay = 24 * 60

// UnmarshalText parses days, a span, or both: "Sat,Sun", "22:00-06:00", "Mon-Fri 08:00-18:00".
func (w *Window) UnmarshalText(text []byte) error {
	days, span, both := strings.Cut(string(text), " ")
	if !both && strings.Contains(days, ":") {
		days, span, both = "Mon-Sun", days, true
	}
	read := Window{To: minutesOfDay}
	if both && !read.setSpan(strings.TrimSpace(span)) {
		return fmt.Errorf("%q is not a time such as Mon-Fri 08:00-18:00, Sat,Sun or 22:00-06:00", text)
	}
	for part := range strings.SplitSeq(days, ",") {
		if !read.addDays(part) {
			return fmt.Errorf("%q is not a time such as Mon-Fri 08:00-18:00: days are Mon, Tue, Wed, Thu, Fri, Sat "+
				"and Sun", text)
		}
	}
	*w = read
	return nil
}

// setSpan sets a span such as "08:00-18:00", and reports whether it is valid.
func (w *Window) setSpan(text string) bool {
	from, to, ok := strings.Cut(text, "-")
	var isFrom, isTo bool
	w.From, isFrom = minutesOf(from)
	w.To, isTo = minutesOf(to)
	return ok && isFrom && isTo && w.From != w.To && w.From != minutesOfDay
}

// addDays adds a day or a range of days, which may wrap around the end of the week, and reports whether it is
// valid.
func (w *Window) addDays(text string) bool {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	from, to := dayOf(first), dayOf(last)
	if from < 0 || to < 0 {
		return false
	}
	for day := from; ; day = (day + 1) % 7 {
		w.Days[day] = true
		if day == to {
			return true
		}
	}
}

// dayOf returns the time.Weekday of an abbreviation, or -1.
func dayOf(text string) int {
	for day := range 7 {
		if strings.EqualFold(text, time.Weekday(day).String()[:3]) {
			return day
		}
	}
	return -1
}

// minutesOf parses a time of day such as "08:30" to minutes since midnight; "24:00" is the end of a day.
func minutesOf(text string) (minutes int, ok bool) {
	hour, minute, ok := strings.Cut(text, ":")
	h, err := strconv.ParseUint(hour, 10, 8)
	m, minuteErr := strconv.ParseUint(minute, 10, 8)
	minutes = int(h)*60 + int(m)
	return minutes, ok && err == nil && minuteErr == nil && len(minute) == 2 && m < 60 && minutes <= minutesOfDay
}

// String formats the window for UnmarshalText, with the days in order from Monday.
func (w Window) String() string {
	var days []string
	for i := range 7 {
		if day := (i + 1) % 7; w.Days[day] {
			days = append(days, time.Weekday(day).String()[:3])
		}
	}
	return fmt.Sprintf("%s %02d:%02d-%02d:%02d", strings.Join(days, ","), w.From/60, w.From%60, w.To/60, w.To%60)
}

// MarshalText returns String.
func (w Window) MarshalText() ([]byte, error) { return []byte(w.String()), nil }
