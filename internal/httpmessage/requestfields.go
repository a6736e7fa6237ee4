package httpmessage

// FieldUse is what urnd knows of a field of requests, as bits.
type FieldUse uint8

// The uses. The zero value is a field of which nothing is known: it may mean anything to an origin.
const (
	// Plain is a field with which a stored response answers a request as one without it would, but for the conditions, ranges and
	// selections that the cache knows: RFC 9110 sections 12 to 14.
	Plain FieldUse = 1 << iota
	// FromProxy is a field by which a proxy in front says from whom and how the request came.
	FromProxy
	// Ranged is a field that asks for a part of a representation.
	Ranged
	// OfConnection is a field about this connection alone: RFC 9110 section 7.6.1, RFC 9113 section 8.2.2.
	OfConnection
)

// namedUse is a field of requests with what is known of it.
type namedUse struct {
	name string
	use  FieldUse
}

// requestFields are those of which something is known, by the lengths of their names.
var requestFields = [...][]namedUse{
	2:  {{"TE", OfConnection}},
	3:  {{"DNT", Plain}, {"Via", Plain | FromProxy}},
	5:  {{"Range", Plain | Ranged}},
	6:  {{"Accept", Plain}, {"Cookie", Plain}, {"Origin", Plain}},
	7:  {{"Referer", Plain}, {"Sec-GPC", Plain}, {"Upgrade", OfConnection}},
	8:  {{"Priority", Plain}, {"If-Range", Plain | Ranged}},
	9:  {{"Sec-CH-UA", Plain}, {"Save-Data", Plain}, {"X-Real-IP", Plain | FromProxy}, {"Forwarded", Plain | FromProxy}},
	10: {{"User-Agent", Plain}, {"Connection", OfConnection}, {"Keep-Alive", OfConnection}},
	13: {{"If-None-Match", Plain}},
	14: {
		{"Accept-Charset", Plain},
		{"Sec-Fetch-Mode", Plain},
		{"Sec-Fetch-Dest", Plain},
		{"Sec-Fetch-Site", Plain},
		{"Sec-Fetch-User", Plain},
		{"HTTP2-Settings", OfConnection},
	},
	15: {{"Accept-Encoding", Plain}, {"Accept-Language", Plain}, {"X-Forwarded-For", Plain | FromProxy}},
	16: {
		{"Sec-CH-UA-Mobile", Plain},
		{"Proxy-Connection", Plain | OfConnection},
		{"X-Requested-With", Plain},
		{"X-Forwarded-Host", Plain | FromProxy},
		{"X-Forwarded-Port", Plain | FromProxy},
	},
	17: {{"If-Modified-Since", Plain}, {"X-Forwarded-Proto", Plain | FromProxy}, {"Transfer-Encoding", OfConnection}},
	18: {{"Sec-CH-UA-Platform", Plain}, {"X-Forwarded-Server", Plain | FromProxy}},
	25: {{"Upgrade-Insecure-Requests", Plain}},
}

// UseOf returns what is known of a field of requests.
func UseOf(name string) FieldUse {
	if len(name) >= len(requestFields) {
		return 0
	}
	known := requestFields[len(name)]
	for i := range known {
		if known[i].name == name || equalFold(known[i].name, name) {
			return known[i].use
		}
	}
	return 0
}
