package proxy_test

import (
	"fmt"
	"strings"
	"time"
)

// scripted is a conversation with a name.
type scripted struct {
	name    string
	packets []packet
}

// asked is a GET of a target with some field lines.
func asked(target string, lines ...string) string {
	return "GET " + target + " HTTP/1.1\r\nHost: a\r\n" + strings.Join(append(lines, ""), "\r\n") + "\r\n"
}

// cachedName and cachedPage are answered from the caches.
const (
	cachedName = "/urn:example:one"
	cachedPage = "http://a.example/page"
)

// padded is a request of so many octets.
func padded(target string, octets int) string {
	without := len(asked(target, "Cookie: "))
	return asked(target, "Cookie: "+strings.Repeat("x", octets-without))
}

// boundaries are conversations in which it is hard to say where a request begins: behind a body, or in the middle of
// what net/http has read.
func boundaries() []scripted {
	var all []scripted
	add := func(name string, packets ...packet) { all = append(all, scripted{name, packets}) }
	one, page := asked(cachedName), asked(cachedPage)
	post := "POST http://a.example/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
	chunked := "POST http://a.example/echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
	for name, before := range map[string]string{
		"a body": post, "a chunked body": chunked, "a chunked body with a trailer": strings.Replace(chunked, "0\r\n", "0\r\nX: y\r\n", 1),
		"a body of GET":                    "GET " + cachedName + " HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
		"a body that looks like a request": "POST http://a.example/echo HTTP/1.1\r\nHost: a\r\nContent-Length: " + fmt.Sprint(len(one)) + "\r\n\r\n" + one,
		"a body that is refused":           "POST " + cachedName + " HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello",
		"a large body that is refused":     "POST " + cachedName + " HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n" + strings.Repeat("x", 300_000),
		"Expect":                           "POST http://a.example/echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
		"a request that takes long":        asked("/urn:example:slow"), "a page that takes long": asked("http://a.example/slow"),
		"an error": asked("/urn:example:fails"), "a miss": asked("/urn:example:once"), "OPTIONS": "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
		"HTTP/1.0": "GET " + cachedName + " HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n",
	} {
		behind := before + one + page + one
		add("behind "+name, whole(behind)...)
		add("behind "+name+", apart", cut(behind, len(before))...)
		add("behind "+name+", one octet early", cut(behind, len(before)+1)...)
		add("behind "+name+", one octet late", cut(behind, len(before)-1)...)
		add("behind "+name+", a whole request early", cut(behind, len(before)+len(one))...)
		add("behind "+name+", which comes in three", cut(behind, len(before)/2, len(before)-3)...)
	}
	for _, left := range []int{1, 2, 3, 4, 5, 20, len(one) - 3, len(one) - 2, len(one) - 1} {
		add(fmt.Sprintf("%d octets behind a cached request", left), cut(one+one+one, len(one)+left)...)
		add(fmt.Sprintf("%d octets behind a miss", left), cut(asked("/urn:example:once")+one+one, len(asked("/urn:example:once"))+left)...)
		add(fmt.Sprintf("%d octets alone", left), cut(one+one+one, left, len(one)+left)...)
	}
	for before, request := range map[string]string{
		"nothing": "", "a cached request": one, "a miss": asked("/urn:example:once"), "a body": post,
		"a refusal": asked("/urn:example:none"), "an error": asked("/urn:example:fails"),
	} {
		for _, part := range []string{
			"G", "GET ", "GET /x?", "GET http://a.example/x?", "GET " + cachedName + " HTTP/1.1\r\nX: ",
			"GET " + cachedName + " HTTP/1.1\r\nHost: a\r\nAccept: ", "GET " + cachedName + " HTTP/1.1\r\nHost: a\r\nContent-Length: 44\r\n\r\n",
			strings.TrimSuffix(post, "hello"),
		} {
			add(fmt.Sprintf("a request within another, behind %s and %q", before, part), packet{octets: request + part}, packet{octets: one + one}, packet{octets: one})
		}
	}
	for _, size := range []int{2048, 4094, 4095, 4096, 4097, 4098, 6000, 8190, 8191, 8192, 8193, 9000, 60 << 10, 80 << 10} {
		add(fmt.Sprintf("a request of %d octets", size), whole(padded(cachedName, size)+one)...)
		add(fmt.Sprintf("a request of %d octets behind another", size), whole(one+padded(cachedName, size)+one)...)
		add(fmt.Sprintf("a request of %d octets with a request behind each part", size), cut(padded(cachedName, size)+one, 1, 2048, size+1)...)
	}
	for _, pad := range []int{0, 1, 2, 3, 41, 42, 43, 44, 45} { // the buffer of net/http has 4096 octets
		add(fmt.Sprintf("many requests that do not fit the buffer by %d", pad), whole(padded(cachedName, 200+pad)+strings.Repeat(one, 300))...)
	}
	add("one octet a packet", single(one+page+one)...)
	add("many pages", whole(strings.Repeat(page+asked("http://a.example/large"), 20))...)
	return all
}

// readings are octets that servers may read in several ways.
func readings() []scripted {
	var all []scripted
	one := asked(cachedName)
	for _, octets := range []string{
		"", "\r\n", "\n", "\r", " ", "\x00", "\r\n" + one, "\n" + one, "\r\n\r\n" + one, one + "\r\n" + one, one + "\n" + one, " " + one, one[:len(one)-2],
		strings.ReplaceAll(one, "\r\n", "\n"),
		"GET " + cachedName + " HTTP/1.1\nHost: a\r\n\r\n", "GET " + cachedName + " HTTP/1.1\r\nHost: a\n\r\n",
		"GET " + cachedName + " HTTP/1.1\r\nHost: a\r\n\n", "GET " + cachedName + " HTTP/1.1\r\r\nHost: a\r\n\r\n",
		"GET " + cachedName + " HTTP/1.1\rHost: a\r\r", "GET " + cachedName + " HTTP/1.1 \r\nHost: a\r\n\r\n",
		"GET  " + cachedName + " HTTP/1.1\r\nHost: a\r\n\r\n", "GET " + cachedName + "  HTTP/1.1\r\nHost: a\r\n\r\n",
		"GET\t" + cachedName + " HTTP/1.1\r\nHost: a\r\n\r\n", "GET " + cachedName + "\r\n\r\n", "GET " + cachedName + "\r\nHost: a\r\n\r\n",
		"get " + cachedName + " HTTP/1.1\r\nHost: a\r\n\r\n", "GET " + cachedName + " http/1.1\r\nHost: a\r\n\r\n",
		"GET " + cachedName + " HTTP/1.0\r\n\r\n", "GET " + cachedName + " HTTP/1.0\r\nHost: a\r\n\r\n",
		"GET /uri-res/N2L?urn:example:one HTTP/1.0\r\nHost: a\r\n\r\n", "GET " + cachedName + " HTTP/1.2\r\nHost: a\r\n\r\n",
		"GET " + cachedName + " HTTP/2.0\r\nHost: a\r\n\r\n", "GET " + cachedName + " HTTP/0.9\r\nHost: a\r\n\r\n",
		"GET " + cachedName + " HTTP/1.10\r\nHost: a\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", "PROXY TCP4 192.0.2.1 192.0.2.2 1 80\r\n" + one,
		"\r\n\r\n\x00\r\nQUIT\n" + one,
		"HEAD " + cachedName + " HTTP/1.1\r\nHost: a\r\n\r\n" + one, "POST " + cachedName + " HTTP/1.1\r\nHost: a\r\n\r\n",
		"PURGE " + cachedPage + " HTTP/1.1\r\nHost: a\r\n\r\n", "TRACE " + cachedName + " HTTP/1.1\r\nHost: a\r\n\r\n",
		"GETS " + cachedName + " HTTP/1.1\r\nHost: a\r\n\r\n", "HEADER / HTTP/1.1\r\nHost: a\r\n\r\n",
		"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n" + one,
		"OPTIONS " + cachedName + " HTTP/1.1\r\nHost: a\r\nOrigin: https://page.example\r\nAccess-Control-Request-Method: GET\r\n\r\n" + one,
		"GET " + cachedName + " HTTP/1.1\r\n\r\n", "GET " + cachedName + " HTTP/1.1\r\nHost:\r\n\r\n",
		"GET " + cachedName + " HTTP/1.1\r\nHost: \t\r\n\r\n", "GET " + cachedName + " HTTP/1.1\r\nHost a\r\n\r\n",
		"GET " + cachedName + " HTTP/1.1\r\nHost : a\r\n\r\n",
		"GET " + cachedName + " HTTP/1.1\r\nHost: a\r\n", "GET " + cachedName + " HTTP/1.1\r\n Host: a\r\n\r\n",
		"GET " + cachedName + " HTTP/1.1\r\nX: y\r\n Host: a\r\n\r\n",
	} {
		all = append(all, scripted{fmt.Sprintf("octets %.60q", octets), whole(octets)})
	}
	for _, host := range []string{
		"A", "a:80", "a:", "a:99999", "a:x", "a.", "b", "b:80", "localhost", "127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:80", "[::1", "::1", "a b", "a/b",
		"a,b", "a@b", "user@a", "a?b", "a#b", "a%41", "%00", "a\x00", "a\x7f", "\xe4", "a\tb", "\ta", "a\t", " a ", "a;b", "a'b", "a\"b", "a<b>", "a{b}",
		"a|b", "a\\b", "a^b", "a`b", "-", "_", ".", "..", "*", "a:80:80", ":80", ":", "a_b", "www.example", "WWW.EXAMPLE", "www.example.", "www.example:80",
		strings.Repeat("a", 300),
	} {
		all = append(all, scripted{fmt.Sprintf("Host %q", host), whole("GET " + cachedName + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n" + one)})
	}
	return all
}

// times are conversations in which time passes.
func times() []scripted {
	var all []scripted
	add := func(name string, packets ...packet) { all = append(all, scripted{name, packets}) }
	one := asked(cachedName)
	for _, pause := range []time.Duration{
		time.Millisecond, 999 * time.Millisecond, time.Second, 1500 * time.Millisecond, 4 * time.Second,
		6 * time.Second, 19 * time.Second, 21 * time.Second, 2 * time.Minute,
	} {
		for _, target := range []string{
			cachedName, "/urn:example:short", "/urn:example:stale", "/urn:example:changing", "/urn:example:nonebriefly",
			cachedPage, "http://a.example/brief", "http://a.example/age",
		} {
			text := asked(target)
			add(fmt.Sprintf("%s before %s", pause, target), packet{text, pause}, packet{text + text, pause}, packet{text, 0})
		}
		add(fmt.Sprintf("%s before a request", pause), packet{"", pause}, packet{one, 0}, packet{one, pause}, packet{one, 0})
		add(fmt.Sprintf("%s within a request", pause), packet{one, pause}, packet{one[:9], pause}, packet{one[9:], 0}, packet{one, 0})
		for _, part := range []int{1, 3, 4} { // net/http waits for four octets, and gives time for a head then
			add(fmt.Sprintf("%s behind %d octets", pause, part), packet{one, pause}, packet{one[:part], pause}, packet{one[part:], 0}, packet{one, 0})
			add(fmt.Sprintf("%s behind %d octets and a request", pause, part), packet{one + one[:part], pause}, packet{one[part:], 0}, packet{one, 0})
			add(fmt.Sprintf("%s behind %d octets and a miss", pause, part), packet{asked("/urn:example:once") + one[:part], pause}, packet{one[part:], 0},
				packet{one, 0})
		}
		add(fmt.Sprintf("%s within the first request", pause), packet{one[:9], pause}, packet{one[9:], 0}, packet{one, 0})
		add(fmt.Sprintf("%s within a request, behind a miss", pause), packet{asked("/urn:example:once"), pause}, packet{one + one[:9], pause},
			packet{one[9:], 0}, packet{one, 0})
		const apart = 7 * time.Millisecond // from the end of a timeout of the server
		add(fmt.Sprintf("%s within a body", pause), packet{"POST http://a.example/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhe", pause + apart},
			packet{"llo" + one, 0}, packet{one, 0})
	}
	add("requests while one is handled", packet{asked("/urn:example:slow"), 0}, packet{one, 10 * time.Millisecond}, packet{one, time.Second}, packet{one, 0})
	add("an octet while one is handled", packet{asked("/urn:example:slow"), 0}, packet{"G", 10 * time.Millisecond}, packet{one[1:], time.Second}, packet{one, 0})
	add("part of a request while one is handled", packet{asked("/urn:example:slow"), 0}, packet{one[:20], time.Second}, packet{one[20:], 0}, packet{one, 0})
	return all
}
