package compress

import (
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

const acceptEncoding = "Accept-Encoding"

// known is the number of supported codings. names lists them in alphabetical order, as the cache sorts them.
const known = 3

func names() [known]string { return [known]string{Brotli, Gzip, Zstd} }

// indexOf returns the index of a coding in names, -1 for others. Names are case-insensitive, and x-gzip means
// gzip: RFC 9110 sections 8.4.1 and 8.4.1.3.
func indexOf(coding string) int {
	if strings.EqualFold(coding, "x-gzip") {
		coding = Gzip
	}
	for i, name := range names() {
		if strings.EqualFold(coding, name) {
			return i
		}
	}
	return -1
}

// weights are the quality values of codings in thousandths: RFC 9110 section 12.4.2. A coding that is not
// listed is unlisted.
type weights struct {
	codings       [known]int
	any, identity int
}

const unlisted = -1

// maxMembers is the maximum number of members of Accept-Encoding that are read; no real client sends as many.
const maxMembers = 32

// weightsOf parses the field lines of Accept-Encoding. If a coding is listed twice, the first member applies.
func weightsOf(lines []string) weights {
	w := weights{any: unlisted, identity: unlisted}
	for i := range w.codings {
		w.codings[i] = unlisted
	}
	read := 0
	for _, line := range lines {
		for line != "" && read < maxMembers {
			var member string
			member, line, _ = strings.Cut(line, ",")
			read++
			name, parameter, _ := strings.Cut(member, ";")
			q, ok := weight(parameter)
			if !ok {
				continue
			}
			place := &w.any
			switch name = strings.Trim(name, " \t"); {
			case name == "*":
			case strings.EqualFold(name, "identity"):
				place = &w.identity
			default:
				i := indexOf(name)
				if i < 0 {
					continue
				}
				place = &w.codings[i]
			}
			if *place == unlisted {
				*place = q
			}
		}
	}
	return w
}

// weight parses the parameter of a member, its quality value, in thousandths; the default is 1000.
func weight(parameter string) (q int, ok bool) {
	parameter = strings.Trim(parameter, " \t")
	if parameter == "" {
		return 1000, true
	}
	if len(parameter) < len("q=0") || parameter[0]|0x20 != 'q' || parameter[1] != '=' ||
		len(parameter) > len("q=0.000") {
		return 0, false
	}
	digits := parameter[2:]
	if digits[0] != '0' && digits[0] != '1' || len(digits) > 1 && digits[1] != '.' {
		return 0, false
	}
	q = int(digits[0]-'0') * 1000
	for i, unit := 2, 100; i < len(digits); i, unit = i+1, unit/10 {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, false
		}
		q += int(digits[i]-'0') * unit
	}
	return q, q <= 1000
}

// of returns the quality value of a coding by its index, 0 if it is not acceptable.
func (w *weights) of(i int) int {
	if w.codings[i] != unlisted {
		return w.codings[i]
	}
	return max(w.any, 0)
}

// refusesIdentity reports whether unencoded content is not acceptable.
func (w *weights) refusesIdentity() bool {
	return w.identity == 0 || w.identity == unlisted && w.any == 0
}

// best returns the coding that the client prefers, the first of several with equal quality; "" if it prefers
// unencoded content, or accepts none of the codings.
func (w *weights) best(codings []string) string {
	best, top := "", 0
	for _, coding := range codings {
		if i := indexOf(coding); i >= 0 && w.of(i) > top {
			best, top = coding, w.of(i)
		}
	}
	if w.identity > top {
		return ""
	}
	return best
}

// Negotiate returns the coding that the client prefers by the field lines of Accept-Encoding, the first of
// several with equal quality; "" for none: RFC 9110 section 12.5.3. It does not allocate.
func Negotiate(lines, codings []string) string {
	if len(lines) == 0 {
		return ""
	}
	w := weightsOf(lines)
	return w.best(codings)
}

// NormalizeAcceptEncoding returns canonical field lines of Accept-Encoding, with which the response for a site is
// requested and stored, so that there is one stored response per coding, however clients spell what they accept. A
// single coding means that urnd compresses the response if the origin does not. For requests with credentials, and for
// clients that accept no coding of Config, it lists all acceptable codings, so that the origin may choose; such a list
// is never a single coding. Range requests get unencoded content.
//
// It does not allocate. The result must not be changed.
func (c *Compressor) NormalizeAcceptEncoding(request httpmessage.Header) []string {
	if request.Has("Range") {
		return c.accepted[0]
	}
	lines := request.Values(acceptEncoding)
	if len(lines) == 0 {
		return c.accepted[0]
	}
	w := weightsOf(lines)
	if c.withAll || !hasCredentials(request) {
		if best := w.best(c.codings); best != "" {
			return c.chosen[indexOf(best)]
		}
	}
	if w.refusesIdentity() {
		return lines
	}
	set := 0
	for i := range known {
		if q := w.of(i); q > 0 && q >= w.identity {
			set |= 1 << i
		}
	}
	return c.accepted[set]
}

// normalOf returns the value of Accept-Encoding for a set of codings, a bit mask of their indexes.
func normalOf(set int) string {
	var members []string
	for i, name := range names() {
		if set&(1<<i) != 0 {
			members = append(members, name)
		}
	}
	if len(members) == 0 {
		return "identity"
	}
	return strings.Join(append(members, "identity;q=0.5"), ", ")
}
