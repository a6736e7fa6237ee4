package proxy_test

import (
	"flag"
	"testing"
	"time"
)

// FuzzFastPath sends any octets, in any division into packets, to a server with the fast path and to one without.
func FuzzFastPath(f *testing.F) {
	addSeeds(f)
	filled := newStores()
	all := variants()
	f.Fuzz(func(t *testing.T, octets, division []byte, how uint16) {
		if how&spoken != 0 {
			octets = speak(octets)
		}
		how &^= spoken
		v := all[int(how/uint16(endings))%len(all)]
		most := 16 << 10
		if v.isSmall {
			most = 4 << 10 // see variant.isSmall
		}
		octets = octets[:min(len(octets), most)]
		compare(t, filled, v, dialog{packets: divided(string(octets), division), ending: ending(how % uint16(endings))})
	})
}

// spoken is a bit that says that octets stand for words.
const spoken = 1 << 15

// speak replaces the octets that are not ASCII by words of HTTP, so that more than a few mutations are requests.
func speak(octets []byte) []byte {
	words := [...]string{
		"GET ", "HEAD ", "POST ", " HTTP/1.1\r\n", " HTTP/1.1\r\nHost: a\r\n\r\n", "\r\n", "\r\n\r\n", "Host: a\r\n", "Host: www.example\r\n",
		" HTTP/1.0\r\n", ": ", "HTTP/1.1",
		"/urn:example:", "urn:example:", "/uri-res/N2L?urn:example:", "/?uri=urn:example:", "http://a.example/", "http://www.example/",
		"/api/v1/resolve?uri=urn:example:", "/fetch/",
		"Connection: ", "keep-alive", "close", "Accept: ", "text/html", "application/json", "Accept-Language: ", "If-None-Match: ", "\"v1\"",
		"If-Modified-Since: ", "Sat, 01 Jan 2000 00:00:00 GMT", "User-Agent: ", "Cookie: ",
		"Content-Length: ", "Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n", "Expect: 100-continue\r\n", "Upgrade: ", "Range: bytes=0-1\r\n",
		"Cache-Control: ", "no-cache", "Authorization: ", "X-Forwarded-For: 192.0.2.1\r\n", "Origin: https://page.example\r\n", "X-Request-Id: x\r\n",
		"Via: 1.1 urnd\r\n", "Accept-Encoding: gzip\r\n", "?=q", "#f", "?+r", "%2f", "denied.example",
		"one", "none", "gone", "short", "stale", "typed", "languages", "record", "withdrawn", "page", "vary", "large", "brief", "moved", "chunked", "slow",
		"fails", "once", "two", "notfound", "modified", "odd",
		"PUT ", "DELETE ", "Content-Length: 5\r\n", "\r\n\r\nhello", "echo", "/api/v1/resolve", "hello",
		"POST http://a.example/echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n",
		"Range: bytes=", "If-Range: ", "-", ",", "127.0.0.1", "192.0.2.2", "X-Forwarded-For: ", "X-Forwarded-Proto: https\r\n", "Forwarded: for=",
		"Via: 1.1 x\r\n", "%3A", "&service=I2L", "?=q?", "client", "partial", "Host: purl.example\r\n", "moved", "lasting",
	}
	var text []byte
	for _, c := range octets {
		if i := int(c) - 0x80; i >= 0 && i < len(words) {
			text = append(text, words[i]...)
			continue
		}
		text = append(text, c)
	}
	return text
}

// maxPackets bounds the packets of a dialog.
const maxPackets = 64

// divided divides octets as each octet of a division says: it is the length of a packet, with three bits for the
// exponent, or a pause.
func divided(octets string, division []byte) []packet {
	// No sum of some of them is a timeout of the server: nobody knows what comes first then.
	pauses := [...]time.Duration{
		1370 * time.Microsecond, 41 * time.Millisecond, 137313 * time.Microsecond, 613 * time.Millisecond,
		1013313 * time.Microsecond, 2017717 * time.Microsecond, 7319191 * time.Microsecond, 23111777 * time.Microsecond,
	}
	packets := make([]packet, 1, maxPackets)
	for _, d := range division[:min(len(division), maxPackets-2)] {
		length, exponent := int(d&31), d>>5
		if length == 0 {
			packets[len(packets)-1].then = pauses[exponent]
			continue
		}
		length = min(length<<exponent, len(octets))
		packets = append(packets, packet{octets: octets[:length]})
		octets = octets[length:]
	}
	return append(packets, packet{octets: octets})
}

// dividing is the inverse of divided, about.
func dividing(packets []packet) (octets string, division []byte) {
	for i, p := range packets {
		octets += p.octets
		if i < len(packets)-1 {
			for left := len(p.octets); left > 0; {
				exponent := 0
				for exponent < 7 && left>>exponent > 31 {
					exponent++
				}
				length := min(left>>exponent, 31)
				division = append(division, byte(exponent<<5|length))
				left -= length << exponent
			}
		}
		switch {
		case p.then > 20*time.Second:
			division = append(division, 7<<5)
		case p.then > 5*time.Second:
			division = append(division, 6<<5)
		case p.then >= time.Second:
			division = append(division, 4<<5)
		case p.then > 0:
			division = append(division, 0)
		}
	}
	return octets, division
}

// addSeeds adds the dialogs of the tables, where it is fuzzed: they are tested anyway.
func addSeeds(f *testing.F) {
	f.Helper()
	f.Add([]byte(asked(cachedName)+asked(cachedPage)), []byte{40, 3, 64}, uint16(0))
	if fuzzed := flag.Lookup("test.fuzz"); fuzzed == nil || fuzzed.Value.String() == "" {
		return
	}
	n := uint16(0)
	add := func(packets []packet) {
		octets, division := dividing(packets)
		if len(octets) <= 16<<10 {
			f.Add([]byte(octets), division, n)
			n++
		}
	}
	for i := range byte(80) {
		f.Add([]byte{0x80, 0x8c, 0xb4 + i%22, 0x84, 0x81 - i%2, 0x90 + i%3, 0xb4 + (i+7)%22, 0x83, 0x87, 0x94 + i%32, '1', 0x86, 0x80, 0x8c, 0xb4, 0x84},
			[]byte{i, 33, i}, uint16(i)|spoken)
	}
	for _, group := range [][]scripted{boundaries(), readings(), times(), every(5, 0, bodies())} {
		for _, s := range group {
			add(s.packets)
		}
	}
	const least = 41 // of forms, in many of which the same is said
	for _, d := range every(least, 0, forms()) {
		add(d.packets)
	}
	const share = 7 // of requests, that others are made of
	for _, d := range append(every(share, 0, requests("GET")), every(share, 3, requests("HEAD"))...) {
		add(d.packets)
	}
}
