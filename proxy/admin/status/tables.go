package status

import (
	"cmp"
	"crypto/x509"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/metrics"
	"github.com/urnd/urnd/proxy/pages"
)

const day = 24 * time.Hour

// warnings returns the table of future failures and probable mistakes. Those of the configuration are in
// English, as in the log.
func (r report) warnings() Table {
	t := Table{
		ID: "warnings", Heading: r.in.Text("state.warnings"), None: r.in.Text("state.none"),
		Columns: []string{r.in.Text("state.about"), r.in.Text("state.warning")},
	}
	for _, c := range r.Certificates() {
		if when, severity := r.expiry(c.NotAfter); severity != "" {
			t.Rows = append(t.Rows,
				Row{severity, []pages.Content{
					r.in.T("state.of_certificate"),
					r.in.T("state.expires_when", "When", when),
				}})
		}
	}
	for _, store := range r.Stores() {
		if severity := severityOfRoom(store.Free); severity != "" {
			t.Rows = append(t.Rows,
				Row{severity, []pages.Content{
					r.say(store.Kind),
					r.in.T("state.little_free", "Size", size(r.in, store.Free)),
				}})
		}
	}
	for _, text := range r.Warnings() {
		t.Rows = append(t.Rows, Row{Warning, []pages.Content{r.in.T("state.of_settings"), r.in.InEnglish(cut(text))}})
	}
	const limit = 2500 // bytes
	return t.within(limit)
}

// failing returns the table of current failures, the most severe first.
func (r report) failing(all []Failing) Table {
	t := Table{
		ID: "failing", Heading: r.in.Text("state.failing"), None: r.in.Text("state.none_failing"),
		Columns: []string{
			r.in.Text("state.server"), r.in.Text("state.is"), r.in.Text("state.reason"),
			r.in.Text("state.next_attempt"),
		},
	}
	all = slices.SortedStableFunc(slices.Values(all), func(a, b Failing) int {
		// The alphabetical order is that of urgency: critical, warning.
		return cmp.Or(strings.Compare(string(a.Severity), string(b.Severity)), strings.Compare(a.Name, b.Name))
	})
	const mostServers, limit = 40, 3500 // rows, bytes
	t.More = max(len(all)-mostServers, 0)
	for _, f := range all[:len(all)-t.More] {
		name := foreign(f.Name)
		if f.Role == RoleDeadTargets {
			name = r.in.T("state.dead", "Count", f.Count)
		}
		again := r.in.Text("state.as_needed")
		if left := f.Until.Sub(r.Now()); left > 0 {
			again = r.in.Text("state.in", "Duration", r.duration(left.Truncate(time.Second)+time.Second))
		}
		t.Rows = append(t.Rows, Row{f.Severity, []pages.Content{name, r.say(f.Role), r.why(f), pages.Escaped(again)}})
	}
	return t.within(limit)
}

// why returns the reason why a server fails.
func (r report) why(f Failing) pages.Content {
	switch {
	case f.Reason == "" && f.Detail == "":
		return ""
	case f.Reason == "":
		return r.in.InEnglish(cut(f.Detail))
	default:
		return r.say(f.Reason, "Command", pages.Code("urnd registry health"))
	}
}

// known returns the table of the servers in the configuration with their states; failing ones come first.
func (r report) known(failing []Failing) Table {
	t := Table{
		ID: "known", Heading: r.in.Text("state.known"), None: r.in.Text("state.none_known"),
		Columns: []string{r.in.Text("state.server"), r.in.Text("state.is"), r.in.Text("state.state")},
	}
	var working []Row
	requested := r.Systems()
	for _, server := range r.Servers() {
		row := Row{OK, []pages.Content{foreign(server.Name), r.say(server.Role), r.in.T("state.no_failure")}}
		if i := slices.IndexFunc(failing, func(f Failing) bool { return f.Name == server.Name }); i >= 0 {
			row.Severity, row.Cells[2] = failing[i].Severity, r.why(failing[i])
			t.Rows = append(t.Rows, row)
			continue
		}
		// It may answer with errors, which does not change the order in which servers are tried.
		if i := slices.IndexFunc(requested,
			func(s metrics.System) bool {
				return s.Name == server.Name && s.Failures()*2 > s.Duration.Count()
			}); i >= 0 {
			row.Severity = Warning
			row.Cells[2] = r.in.T("state.mostly_failed", "Failed", r.number(requested[i].Failures()), "Asked",
				r.number(requested[i].Duration.Count()))
			t.Rows = append(t.Rows, row)
			continue
		}
		working = append(working, row)
	}
	t.Rows = append(t.Rows, working...)
	const mostServers, limit = 20, 2000 // rows, bytes
	t.More = max(len(t.Rows)-mostServers, 0)
	t.Rows = t.Rows[:len(t.Rows)-t.More]
	return t.within(limit)
}

// errors returns the table of the last warnings and errors of the log, in at most limit bytes. They are in
// English, and may contain text of external origin.
func (r report) errors(limit int) Table {
	t := Table{ID: "errors", Heading: r.in.Text("state.errors"), None: r.in.Text("state.none_since"), Columns: []string{
		r.in.Text("state.last"), r.in.Text("state.level"), r.in.Text("state.what"), r.in.Text("state.details"),
		r.in.Text("state.times"),
	}}
	for _, record := range r.Errors() {
		severity, level, times := Warning, r.in.T("state.warning"), r.number(record.Count)
		if record.Error {
			severity, level = Critical, r.in.T("state.error")
		}
		if record.Others > 0 {
			times = r.in.Text("state.others", "Number", times, "Count", int64(min(record.Others, 1<<62)))
		}
		t.Rows = append(t.Rows, Row{severity, []pages.Content{
			pages.Escaped(r.when(record.Last)), level, r.in.InEnglish(record.Message), pages.Bdi(record.Attributes),
			pages.Escaped(times),
		}})
	}
	return t.within(limit)
}

// when returns a time and its age, in minutes.
func (r report) when(at time.Time) string {
	at = at.UTC()
	switch ago := r.Now().Sub(at); {
	case ago < time.Minute:
		return r.in.Text("state.just_now", "Time", at.Format(time.TimeOnly))
	case ago < day:
		return r.in.Text("state.ago", "Time", at.Format(time.TimeOnly), "Uptime", r.uptime(ago))
	default:
		return at.Format(time.DateTime)
	}
}

func (r report) requests() Table {
	t := Table{
		ID: "requests", Heading: r.in.Text("state.requests"), None: r.in.Text("state.none_yet"),
		Columns: []string{
			r.in.Text("state.form"), r.in.Text("state.all"), "2xx", "3xx", "4xx", "5xx",
			r.in.Text("state.disconnected"),
			r.in.Text("state.median"),
			r.in.Text("state.within"),
		},
	}
	for _, f := range r.Forms() {
		all := uint64(0)
		for _, n := range f.Classes {
			all += n
		}
		t.Rows = append(t.Rows, cells(
			f.Name, r.number(all), r.number(f.Classes[1]+f.Classes[2]), r.number(f.Classes[3]), r.number(f.Classes[4]),
			r.number(f.Classes[5]), r.number(f.Classes[0]), r.quantile(f.Duration, median),
			r.quantile(f.Duration, most),
		).named())
	}
	return t
}

func (r report) caches() Table {
	t := Table{ID: "caches", Heading: r.in.Text("state.caches"), None: r.in.Text("state.none"), Columns: []string{
		r.in.Text("state.cache"), r.in.Text("state.lookups"), r.in.Text("state.answered"), r.in.Text("state.entries"),
		r.in.Text("state.memory"),
		r.in.Text("state.evicted"),
	}}
	for _, c := range r.Caches() {
		all, found := uint64(0), c.Lookups["hit"]+c.Lookups["negative"]+c.Lookups["stale"]
		for _, n := range c.Lookups {
			all += n
		}
		t.Rows = append(t.Rows, cells(
			c.Name, r.number(all), r.share(found, all), r.in.Number(max(c.Entries, 0)), size(r.in, c.Bytes),
			r.number(c.Evictions),
		).named())
	}
	slices.SortFunc(t.Rows, func(a, b Row) int { return slices.Compare(a.Cells, b.Cells) })
	return t
}

// systems returns the table of the requests to other servers, the slowest first.
func (r report) systems() Table {
	t := Table{
		ID: "systems", Heading: r.in.Text("state.systems"), None: r.in.Text("state.no_requests"),
		Columns: []string{
			r.in.Text("state.server"), r.in.Text("state.asked"), r.in.Text("state.failed"), r.in.Text("state.median"),
			r.in.Text("state.within"),
			r.in.Text("state.outcomes"),
		},
	}
	all := r.Systems()
	slices.SortStableFunc(all, func(a, b metrics.System) int {
		slow, _, _ := a.Duration.Quantile(most)
		slower, _, _ := b.Duration.Quantile(most)
		return cmp.Compare(slower, slow)
	})
	const mostSystems = 20 // there may be many DNS servers
	for _, system := range all[:min(len(all), mostSystems)] {
		n, failed, is := system.Duration.Count(), system.Failures(), RoleDNS
		if system.Kind == metrics.SystemGateway {
			is = roleGateway
		}
		row := cells(
			system.Name, r.number(n), r.share(failed, n), r.quantile(system.Duration, median),
			r.quantile(system.Duration, most),
		).named()
		row.Cells[0], row.Cells = r.say(is)+" "+row.Cells[0], append(row.Cells, r.outcomes(system.Outcomes))
		const few, some, many = 5, 20, 2 // number of failures, and denominators of their share
		switch {
		case failed < few:
		case failed*many >= n:
			row.Severity = Critical
		case failed*some >= n:
			row.Severity = Warning
		}
		t.Rows = append(t.Rows, row)
	}
	t.More = len(all) - len(t.Rows)
	return t
}

func (r report) registry() Table {
	t := Table{
		ID: "registry", Heading: r.in.Text("state.registry"), None: r.in.Text("state.no_registry"),
		Columns: []string{r.in.Text("state.what"), r.in.Text("state.how_many")},
	}
	held := r.Registry()
	if held == nil {
		return t
	}
	for _, row := range [...]struct {
		of string
		n  int64
	}{
		{r.in.Text("state.active"), held.Active},
		{r.in.Text("state.reserved"), held.Reserved},
		{r.in.Text("state.withdrawn"), held.Withdrawn},
		{r.in.Text("state.aliases"), held.Aliases},
		{r.in.Text("state.targets"), held.Targets},
		{r.in.Text("state.prefixes"), held.Prefixes},
		{r.in.Text("state.versions"), held.Changes},
	} {
		t.Rows = append(t.Rows, cells(row.of, r.in.Number(max(row.n, 0))))
	}
	return t
}

// severityOfRoom returns the severity of the free bytes on a file system: a registry that cannot be written
// rejects changes.
func severityOfRoom(free int64) Severity {
	const little, none = 1 << 30, 100 << 20
	switch {
	case free < 0 || free >= little:
		return ""
	case free < none:
		return Critical
	default:
		return Warning
	}
}

func (r report) stores() Table {
	t := Table{ID: "stores", Heading: r.in.Text("state.stores"), None: r.in.Text("state.none"), Columns: []string{
		r.in.Text("state.store"), r.in.Text("state.place"), r.in.Text("state.state"), r.in.Text("state.size"),
		r.in.Text("state.at_most"),
		r.in.Text("state.free"),
	}}
	for _, store := range r.Stores() {
		row := Row{
			store.Severity,
			[]pages.Content{
				r.say(store.Kind), foreign(store.Location), r.say(store.Content, store.Values...), nothing,
				nothing, nothing,
			},
		}
		if store.Size >= 0 {
			row.Cells[3] = pages.Escaped(size(r.in, store.Size))
		}
		if store.Limit > 0 {
			row.Cells[4] = pages.Escaped(size(r.in, store.Limit))
		}
		if store.Free >= 0 {
			row.Cells[5] = pages.Escaped(size(r.in, store.Free))
		}
		if severity := severityOfRoom(store.Free); severity != "" && row.Severity != Critical {
			row.Severity = severity
		}
		t.Rows = append(t.Rows, row)
	}
	const limit = 2500 // bytes
	return t.within(limit)
}

func (r report) machines() Table {
	t := Table{
		ID: "machines", Heading: r.in.Text("state.machines"), None: r.in.Text("state.none"),
		Columns: []string{r.in.Text("state.machine"), r.in.Text("state.does"), r.in.Text("state.until")},
	}
	for _, m := range r.Instances() {
		name, until := foreign(m.Name), nothing
		switch m.Role {
		case InstanceShares:
			name = r.in.T("state.other_machines")
		case InstanceStandalone:
			name = r.in.T("state.no_other")
		}
		if !m.Until.IsZero() {
			until = m.Until.UTC().Format(time.DateTime)
		}
		t.Rows = append(t.Rows,
			Row{"", []pages.Content{name, r.say(m.Role, "Cache", pages.Code(m.Cache)), pages.Escaped(until)}})
	}
	return t
}

// certificate returns the table of the server certificates with their names and expiry.
func (r report) certificate() Table {
	t := Table{
		ID: "certificate", Heading: r.in.Text("state.certificate"), None: r.in.Text("state.no_certificate"),
		Columns: []string{r.in.Text("state.property"), r.in.Text("state.value")},
	}
	for _, c := range r.Certificates() {
		when, severity := r.expiry(c.NotAfter)
		for _, row := range [...]struct{ of, is string }{
			{r.in.Text("state.names"), strings.Join(namesOf(c), ", ")},
			{r.in.Text("state.subject"), c.Subject.String()},
			{r.in.Text("state.issuer"), c.Issuer.String()},
		} {
			t.Rows = append(t.Rows, Row{"", []pages.Content{pages.Escaped(row.of), foreign(cmp.Or(row.is, nothing))}})
		}
		t.Rows = append(t.Rows, Row{severity, []pages.Content{r.in.T("state.expires"), pages.Escaped(when)}})
	}
	return t
}

// namesOf returns the host names and IP addresses of a certificate.
func namesOf(c *x509.Certificate) (names []string) {
	names = append(names, c.DNSNames...)
	for _, address := range c.IPAddresses {
		names = append(names, address.String())
	}
	return names
}

// expiry returns the expiry of a certificate as text, and its severity.
func (r report) expiry(at time.Time) (when string, severity Severity) {
	const soon, verySoon = 21 * day, 3 * day
	left, time := at.Sub(r.Now()), at.UTC().Format(time.DateTime)
	if left < 0 {
		return r.in.Text("state.expired", "Time", time), Critical
	}
	switch {
	case left < verySoon:
		severity = Critical
	case left < soon:
		severity = Warning
	}
	return r.in.Text("state.expires_in", "Time", time, "Days", r.in.Text("state.days", "Count", int(left/day))),
		severity
}

func (r report) limits() Table {
	t := Table{
		ID: "limits", Heading: r.in.Text("state.limits"), None: r.in.Text("state.none"),
		Columns: []string{r.in.Text("state.limit"), r.in.Text("state.in_use"), r.in.Text("state.at_most")},
	}
	for _, l := range r.Limits() {
		row := cells(l.Name, strconv.Itoa(l.Used), strconv.Itoa(l.Max)).named()
		if l.Max > 0 && l.Used >= l.Max {
			row.Severity = Critical
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
