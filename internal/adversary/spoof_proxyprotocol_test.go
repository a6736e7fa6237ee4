package adversary

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
)

// proxyProtocol are headers of the PROXY protocol (HAProxy, proxy-protocol.txt) from clients that must not send
// one, and malformed ones from the load balancer that must.
func (s *stage) proxyProtocol() []payload {
	var payloads []payload
	add := func(name, section, from, header string, want int) {
		payloads = append(payloads,
			payload{
				name: name, section: "proxy-protocol section " + section, shows: header,
				play: func(ctx context.Context) error {
					got, err := converse(ctx, s.service, from,
						header+"GET "+privileged+" HTTP/1.1\r\nHost: "+s.service+"\r\nConnection: close\r\n\r\n")
					switch {
					case err != nil:
						return err
					case want == 0 && len(got) > 0 && got[0].status < 400, want > 0 &&
						(len(got) == 0 || got[0].status != want):
						return fmt.Errorf("urnd answered %s", summary(got))
					default:
						return nil
					}
				},
			})
	}
	trusted := "PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n"
	add("a load balancer for a client with the right", "2.1", balancer, trusted, 302)
	add("a load balancer for a client without it", "2.1", balancer, "PROXY TCP4 127.0.0.2 127.0.0.1 1 2\r\n", 403)
	add("a load balancer, version 2", "2.2", balancer, version2(0x21, 0x11, friend), 302)
	for _, from := range []string{friend, stranger, relay} {
		add("version 1 from "+from, "2", from, trusted, 0)
		add("version 2 from "+from, "2", from, version2(0x21, 0x11, friend), 0)
	}
	for _, header := range []string{
		"", "PROXY UNKNOWN\r\n", "PROXY UNKNOWN 127.0.0.1 127.0.0.1 1 2\r\n", "PROXY TCP4 127.0.0.1 127.0.0.1 1 2\n",
		"PROXY TCP4 127.0.0.1 127.0.0.1 1\r\n", "PROXY TCP4 127.0.0.1\r\n", "PROXY TCP4\r\n", "PROXY\r\n",
		"proxy TCP4 127.0.0.1 127.0.0.1 1 2\r\n", "PROXY TCP6 127.0.0.1 127.0.0.1 1 2\r\n",
		"PROXY TCP4 ::1 ::1 1 2\r\n", "PROXY TCP4 127.0.0.1 127.0.0.1 1 65536\r\n",
		"PROXY TCP4 127.0.0.1 127.0.0.1 -1 2\r\n",
		"PROXY TCP4 127.1 127.0.0.1 1 2\r\n",
		"PROXY TCP4 localhost localhost 1 2\r\n",
		"PROXY UDP4 127.0.0.1 127.0.0.1 1 2\r\n",
		"PROXY TCP4 127.0.0.1 127.0.0.1 1 2 3\r\n", "PROXY  TCP4 127.0.0.1 127.0.0.1 1 2\r\n",
		" PROXY TCP4 127.0.0.1 127.0.0.1 1 2\r\n",
		"PROXY TCP4 127.0.0.1 127.0.0.1 1 2" + strings.Repeat(" ", 200) + "\r\n",
		"PROXY TCP4 " + strings.Repeat("1", 5000), version2(0x20, 0x11, friend), version2(0x21, 0x00, friend),
		version2(0x21, 0x12, friend),
		version2(0x21, 0x31, friend), version2(0x21, 0x41,
			friend), version2(0x11, 0x11, friend), version2(0x31, 0x11, friend), version2(0x22, 0x11, friend),
		version2(0x21, 0x21, friend), version2(0x21, 0x11, friend)[:14], version2(0x21, 0x11, friend)[:20],
		signature + "\x21\x11\xff\xff" + strings.Repeat("a", 70_000), signature + "\x21\x11\x00\x00", signature,
	} {
		add(fmt.Sprintf("from the load balancer %.50q", header), "2", balancer, header, 0)
	}
	add("two headers", "2", balancer, "PROXY TCP4 127.0.0.2 127.0.0.1 1 2\r\n"+trusted, 0)
	add("a header between two requests", "2", balancer,
		"PROXY TCP4 127.0.0.2 127.0.0.1 1 2\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"+trusted, 200)
	return inFamily("proxy protocol", payloads)
}

// signature is the beginning of a version 2 header: section 2.2.
const signature = "\r\n\r\n\x00\r\nQUIT\n"

// version2 returns a version 2 header for a client.
func version2(command, family byte, client string) string {
	addresses := append(netip.MustParseAddr(client).AsSlice(), 127, 0, 0, 1)
	addresses = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(addresses, 1), 2)
	head := binary.BigEndian.AppendUint16([]byte(signature+string(command)+string(family)), uint16(len(addresses)))
	if command > 0x7f || family > 0x7f {
		panic("string of a rune above 127 is not one byte")
	}
	return string(append(head, addresses...))
}
