package adversary

import "slices"

// failures are failures of the dependencies of urnd: DNS, files, and the replacement of its own process. The
// clock is excluded, because that of a process cannot be set; the tests of the packages do that.
func failures(s *stage) []payload {
	return slices.Concat(s.failingDNS(), s.failingRecords(), s.snapshots(), s.files(), s.sharedServers(), s.ends(),
		s.middles())
}
