package adversary

import "context"

// destinations are spellings of addresses that are not public: RFC 6890 and its registries, inet_aton(3), RFC
// 4291 section 2.2, RFC 6052, RFC 3056, RFC 3986 section 3.2.2.
func destinations() []destination {
	var all []destination
	for _, host := range []string{
		"127.0.0.1", "127.0.0.2", "127.255.255.254", "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "172.16.0.1",
		"172.31.255.255", "192.168.0.1",
		"192.168.255.255",
		"169.254.169.254", "169.254.170.2", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192",
		"192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1",
		"255.255.255.255", "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[::0:1]",
		"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::FFFF:7F00:0001]", "[0:0:0:0:0:ffff:127.0.0.1]",
		"[::ffff:10.0.0.1]", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[::127.0.0.1]", "[::7f00:1]",
		"[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::a9fe:a9fe]",
		"[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2002:a9fe:a9fe::]", "[2001:0:7f00:1::]", "[2001::1]", "[fc00::1]",
		"[fd00:ec2::254]", "[fdff:ffff::1]", "[fe80::1]", "[febf::1]", "[fec0::1]", "[ff02::1]", "[ff05::1]",
		"[2001:db8::1]", "[100::1]", "[3fff::1]", "[5f00::1]",
	} {
		all = append(all, destination{host, true})
	}
	for _, host := range []string{
		"127.1", "127.0.1", "127.0.0.1.", "127.0.0.01", "127.000.000.001", "0177.0.0.1", "0177.0.0.01", "0x7f.0.0.1",
		"0x7f.1", "0X7F000001", "2130706433", "017700000001", "0x7f000001", "4294967295", "0", "0.0", "00.0.0.0",
		"127.0.0.1%00", "127.0.0.1%0a", "%31%32%37.0.0.1", "%31%32%37%2e%30%2e%30%2e%31", "127%2e0%2e0%2e1",
		"127%E3%80%820%E3%80%820%E3%80%821", "%E2%91%A0%E2%91%A1%E2%91%A6.0.0.1", "%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1",
		"localhost", "LOCALHOST", "LocalHost", "localhost.", "localhost.localdomain", "ip6-localhost",
		"%6c%6f%63%61%6c%68%6f%73%74", "a@127.0.0.1", "a:b@127.0.0.1", "127.0.0.1@", "127.0.0.1%23@a.example",
		"a.example%40127.0.0.1", "127.0.0.1%2f@a.example", "[::1%25lo]", "[::1%lo]", "[fe80::1%25lo]",
		"[::ffff:127.0.0.1%25lo]", "[v1.7f00:1]", "[127.0.0.1]", "[::ffff:127.1]", "[::ffff:0x7f.0.0.1]", "[::1", "::1",
		"[0:0:0:0:0:0:0:0:1]", "metadata.google.internal", "169.254.169.254.", "0251.0376.0251.0376", "0xa9fea9fe",
		"2852039166", "169.16689662",
	} {
		all = append(all, destination{host, false})
	}
	return all
}

// spelled requests each destination from the forward proxy.
func (s *stage) spelled() []payload {
	var payloads []payload
	for _, d := range destinations() {
		uri := "http://" + d.host + ":" + s.canary.port + "/" + s.id()
		payloads = append(payloads,
			payload{
				name: d.host, section: "RFC 3986 section 7.4", shows: "GET " + uri,
				play: func(ctx context.Context) error {
					return d.wantRefusal(s.forwardTo(ctx, uri))
				},
			})
	}
	return inFamily("spellings", payloads)
}
