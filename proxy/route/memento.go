package route

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// The prefixes of the paths of Memento resources, which are distinct from the name itself (RFC 7089 section
// 4.2, pattern 2): its TimeGate, its TimeMap, in pages if it is long, and its mementos.
//
//	/timegate/<identifier>
//	/timemap/<identifier>                    /timemap/<page>/<identifier>
//	/memento/<YYYYMMDDhhmmss>/<identifier>
//
// The identifier is a URI, plain or percent-encoded as a whole. All that follows belongs to it, also "?" and
// "//". It begins with a letter (RFC 3986 section 3.1), so that it cannot be confused with a page number.
const (
	PathTimeGate = "/timegate/"
	PathTimeMap  = "/timemap/"
	PathMemento  = "/memento/"
)

// Role is the role of a Memento resource (RFC 7089 section 1.1).
type Role uint8

// The roles. The zero value is none: the target is not a Memento resource.
const (
	NoRole       Role = iota
	RoleTimeGate      // the TimeGate: it redirects to the memento of Accept-Datetime
	RoleTimeMap       // the list of mementos
	RoleMemento       // the state of the name at a time
)

// Memento is the Memento part of a target (RFC 7089); the zero value is that of other targets.
type Memento struct {
	Role     Role
	Page     int       // of a TimeMap, starting at 1; 0 is the TimeMap as a whole
	Datetime time.Time // of a memento: in UTC, with a resolution of one second
}

// mementoTime is the layout of times in paths, as used by the Internet Archive, in UTC.
const mementoTime = "20060102150405"

// TimeGateURL returns the URL of the TimeGate of a canonical name at the server with this base URL. It is
// encoded like those of AppendNameURL.
func TimeGateURL(base, name string) string { return mementoResourceURL(base+PathTimeGate, name) }

// TimeMapURL returns the URL of a page of the TimeMap of a name; 0 is the TimeMap as a whole.
func TimeMapURL(base string, page int, name string) string {
	if page == 0 {
		return mementoResourceURL(base+PathTimeMap, name)
	}
	return mementoResourceURL(base+PathTimeMap+strconv.Itoa(page)+"/", name)
}

// MementoURL returns the URL of the memento of a name at a time, which is truncated to seconds.
func MementoURL(base string, at time.Time, name string) string {
	return mementoResourceURL(base+PathMemento+at.UTC().Format(mementoTime)+"/", name)
}

func mementoResourceURL(start, name string) string {
	return string(appendName([]byte(start), name, isPlain(name)))
}

// cutMemento splits the target of a Memento resource into a Memento and the identifier; ok is false for other targets.
func cutMemento(target string) (m Memento, identifier string, ok bool, err error) {
	switch {
	case strings.HasPrefix(target, PathTimeGate):
		return Memento{Role: RoleTimeGate}, target[len(PathTimeGate):], true, nil
	case strings.HasPrefix(target, PathTimeMap):
		m, identifier, err = cutPage(target)
		return m, identifier, true, err
	case strings.HasPrefix(target, PathMemento):
		m, identifier, err = cutTime(target)
		return m, identifier, true, err
	default:
		return Memento{}, "", false, nil
	}
}

// maxPageDigits is the most digits of a page number.
const maxPageDigits = 6

// cutPage splits the target of a TimeMap.
func cutPage(target string) (m Memento, identifier string, err error) {
	m, identifier = Memento{Role: RoleTimeMap}, target[len(PathTimeMap):]
	number, rest, _ := strings.Cut(identifier, "/")
	if number == "" || number[0] < '0' || number[0] > '9' {
		return m, identifier, nil
	}
	page, err := strconv.ParseUint(number, 10, 32)
	if err != nil || number[0] == '0' || len(number) > maxPageDigits {
		return m, rest, &uri.ParseError{Input: target, Offset: len(PathTimeMap), Rule: rulePage}
	}
	m.Page = int(page)
	return m, rest, nil
}

// cutTime splits the target of a memento.
func cutTime(target string) (m Memento, identifier string, err error) {
	m.Role = RoleMemento
	digits, rest, ok := strings.Cut(target[len(PathMemento):], "/")
	if m.Datetime, err = time.Parse(mementoTime, digits); err != nil || !ok || len(digits) != len(mementoTime) {
		return Memento{Role: RoleMemento}, rest,
			&uri.ParseError{Input: target, Offset: len(PathMemento), Rule: ruleMemento}
	}
	return m, rest, nil
}

// parseMemento parses the identifier of a Memento target. The service that a URN selects is ignored: the
// service is always I2L.
func parseMemento(m Memento, identifier string, err error) (Target, error) {
	t := Target{Form: FormMemento, Memento: m}
	if err != nil {
		return t, err
	}
	t.Query, err = resolver.ParseQuery(uri.EncodeRaw(decodedWhole(identifier)), resolver.I2L)
	return t, err
}

// meant replaces a URL in the query of a Memento target by the name that it stands for: the URL by which this server
// resolves the name or serves its Memento resource, as clients append it to the URL of a TimeGate; or one at a web
// host whose paths are names, whatever its scheme and port, as in Request.hosted. It returns other queries unchanged.
func (p *Endpoint) meant(v *RequestHead, q resolver.Query) resolver.Query {
	text := q.URI.String()
	if q.IsURN() || !isAbsoluteWeb(text) {
		return q
	}
	authority, _ := q.URI.Authority()
	path := uri.PathAndQuery(text)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	public, below := publicOf(p.PublicURL)
	isPublic := uri.SameAuthority(authority, public) && strings.HasPrefix(path, below+"/")
	host := p.Hosts.at(authority)
	switch {
	case host != "" && !isReserved(path, host):
		if named, err := uri.Parse("https://" + host + path); err == nil {
			q.URI = named
		}
	case isPublic || host != "" || uri.SameAuthority(authority, v.Host):
		if isPublic { // the proxy in front removes it from the paths of requests
			path = path[len(below):]
		}
		if t, err := Parse(path); err == nil && (t.Form == FormPath || t.Form == FormMemento) {
			t.Query.Service = q.Service
			return t.Query
		}
	}
	return q
}

// publicOf returns the host, with port, and the path of PublicURL; the path has no slash at its end.
func publicOf(base string) (authority, path string) {
	_, rest, _ := strings.Cut(base, "://")
	end := strings.IndexByte(rest, '/')
	if end < 0 {
		return rest, ""
	}
	return rest[:end], rest[end:]
}

// isOwnMemento reports whether a path at a web host whose paths are names is a Memento target and not a name:
// if its identifier is a URN or a URL of that host, which cannot be part of a name of the host.
func isOwnMemento(path, host string) bool {
	_, identifier, ok, err := cutMemento(path)
	if !ok || err != nil {
		return false
	}
	if isEncoded(identifier) {
		if identifier, err = url.PathUnescape(identifier); err != nil {
			return false
		}
	}
	const urn = "urn:"
	if len(identifier) > len(urn) && uri.EqualFold(identifier[:len(urn)], urn) {
		return true
	}
	u, err := uri.ParseRaw(identifier)
	if err != nil || !isAbsoluteWeb(identifier) {
		return false
	}
	name, _ := u.Host()
	return uri.SameHost(name, host)
}

var (
	rulePage = uri.Rule{
		Code: "timemap_page", Name: "TimeMap", Section: "RFC 7089 section 5",
		Requirement: "the number of a page of a TimeMap is from 1 on, without zeros before it: " +
			"/timemap/2/urn:example:a",
	}
	ruleMemento = uri.Rule{
		Code: "memento_time", Name: "memento", Section: "RFC 7089 section 4",
		Requirement: "the time of a memento has 14 digits, in UTC, and an identifier follows: " +
			"/memento/20310501120000/urn:example:a",
	}
)
