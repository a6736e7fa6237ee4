package proxy_test

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// masked is a text without what is random: request identifiers, of 16 hexadecimal digits, and what separates several ranges, of 60.
func masked(text string) string {
	const id, boundary = 16, 60
	var b strings.Builder
	from, run := 0, 0
	for i := range len(text) + 1 {
		if i < len(text) && ('0' <= text[i] && text[i] <= '9' || 'a' <= text[i] && text[i] <= 'f') {
			run++
			continue
		}
		if run == id || run == boundary {
			b.WriteString(text[from : i-run])
			b.WriteString("ID")
			from = i
		}
		run = 0
	}
	b.WriteString(text[from:])
	return b.String()
}

// framed are responses without the chunked transfer coding: whether net/http uses it for a batch depends on when the
// first line of that is ready.
func framed(responses []string) []string {
	all := make([]string, len(responses))
	for i, text := range responses {
		all[i] = withLength(text)
	}
	return all
}

// withLength is text with a length for each response in chunks that are there as a whole: RFC 9112 section 7.1.
func withLength(text string) string {
	head, rest, ok := strings.Cut(text, "Transfer-Encoding: chunked\r\n\r\n")
	if !ok {
		return text
	}
	body := ""
	for {
		size, chunk, _ := strings.Cut(rest, "\r\n")
		n, err := strconv.ParseUint(size, 16, 16)
		if err != nil || len(chunk) < int(n)+2 {
			return text
		}
		body, rest = body+chunk[:n], chunk[n+2:]
		if n == 0 {
			return fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s%s", head, len(body), body, withLength(rest))
		}
	}
}

// coarse is how much earlier an idle connection may be closed by the fast path, which does not renew its deadline for
// each request.
const coarse = time.Second

// compare holds dialogs with both servers, and reports every difference. It returns how many requests the fast path has
// answered from the caches.
//
// The server without may also get each request that the fast path has answered in a packet of its own: what net/http
// finds in its buffer it neither counts for the limit of a header nor shows to the record of the request line. And it
// has several tries, since some of what it says is a matter of luck: whether the first line of a batch is sent alone.
//
// Where a client of TLS leaves within a head, it is a matter of luck for both whether they see its last words, or a connection that
// broke, to which net/http answers. So that which has the fast path is tried again, too.
func compare(t *testing.T, filled *stores, v *variant, dialogs ...dialog) (answered int) {
	t.Helper()
	var faults []string
	const tries, most = 3, 3
	for range tries {
		quick := play(t, filled, v, dialogs, true)
		if faults = compareWith(t, filled, v, quick, dialogs); len(faults) > 0 {
			continue
		}
		for _, h := range quick.heard {
			answered += h.answered
		}
		return answered
	}
	for _, fault := range faults[:min(len(faults), most)] {
		t.Error(fault)
	}
	return 0
}

// compareWith returns what is not the same without the fast path in the best of several tries.
func compareWith(t *testing.T, filled *stores, v *variant, quick *transcript, dialogs []dialog) (faults []string) {
	t.Helper()
	finer := make([]dialog, len(dialogs))
	for i, d := range dialogs {
		finer[i] = d.finer(quick.heard[i].cuts)
	}
	const tries = 6
	for try := range tries {
		sent := dialogs
		if try%2 > 0 {
			sent = finer
		}
		if faults = play(t, filled, v, sent, false).differences(quick, v, sent); len(faults) == 0 {
			break
		}
	}
	return faults
}

// finer divides the packets of a dialog once more.
func (d dialog) finer(at []int) dialog {
	finer := dialog{ending: d.ending}
	sent := 0
	for _, p := range d.packets {
		var here []int
		for _, cut := range at {
			if sent < cut && cut < sent+len(p.octets) {
				here = append(here, cut-sent)
			}
		}
		parts := cut(p.octets, here...)
		if len(parts) == 0 {
			parts = []packet{p}
		}
		for i := range parts {
			finer.parts = append(finer.parts, i < len(parts)-1)
		}
		parts[len(parts)-1].then = p.then
		finer.packets = append(finer.packets, parts...)
		sent += len(p.octets)
	}
	return finer
}

// differences returns what is not the same with the fast path.
func (plain *transcript) differences(quick *transcript, v *variant, dialogs []dialog) []string {
	var all []string
	differ := func(about int, what string, plain, quick any) {
		if reflect.DeepEqual(plain, quick) {
			return
		}
		a, b := masked(fmt.Sprintf("%q", plain)), masked(fmt.Sprintf("%q", quick))
		if a == b {
			return
		}
		at := 0
		for at < min(len(a), len(b)) && a[at] == b[at] {
			at++
		}
		from := max(at-150, 0)
		fault := fmt.Sprintf("%s: %s differ at %d:\n without %.400s\n    with %.400s", v.name, what, at, a[from:], b[from:])
		if about < len(dialogs) {
			fault += fmt.Sprintf("\n packets %.600s, ending %d", fmt.Sprintf("%+q", fmt.Sprint(dialogs[about].packets)), dialogs[about].ending)
		}
		all = append(all, fault)
	}
	for i, a := range plain.heard {
		b := quick.heard[i]
		differ(i, "responses", framed(a.responses), framed(b.responses))
		differ(i, "events", a.events, b.events)
		differ(i, "logs", a.log, b.log)
		differ(i, "ends", a.ended, b.ended)
		if early := a.lasted - b.lasted; early < 0 || early > coarse {
			differ(i, "lengths", a.lasted, b.lasted)
		}
	}
	differ(len(dialogs), "counts of the cache of answers", plain.answers, quick.answers)
	differ(len(dialogs), "counts of the HTTP cache", plain.web, quick.web)
	return all
}

// whole is a conversation in one packet.
func whole(octets string) []packet { return []packet{{octets: octets}} }

// cut divides octets before some positions; a negative one is counted from the end.
func cut(octets string, at ...int) []packet {
	for i := range at {
		if at[i] < 0 {
			at[i] += len(octets)
		}
	}
	slices.Sort(at)
	var packets []packet
	from := 0
	for _, to := range append(at, len(octets)) {
		if to > from && to <= len(octets) {
			packets = append(packets, packet{octets: octets[from:to]})
			from = to
		}
	}
	return packets
}

// single divides octets into packets of one octet.
func single(octets string) []packet {
	packets := make([]packet, 0, len(octets))
	for i := range len(octets) {
		packets = append(packets, packet{octets: octets[i : i+1]})
	}
	return packets
}
