package list

import "net/netip"

// HostFile is a File with a list of hosts.
type HostFile struct{ *File[*Hosts] }

// URLFile is a File with a list of URLs.
type URLFile struct{ *File[*URLs] }

// NetworkFile is a File with a list of networks.
type NetworkFile struct{ *File[*Networks] }

// OpenHosts reads a list of hosts (ParseHosts) from a file, and starts nothing. A file that is missing, empty or cannot be read is an
// error: a rule that denies by it would be without effect. A file that has comments alone is an empty list.
func OpenHosts(config Config) (HostFile, error) {
	f, err := open(config, ParseHosts)
	return HostFile{f}, err
}

// OpenURLs is OpenHosts for a list of URLs (ParseURLs).
func OpenURLs(config Config) (URLFile, error) {
	f, err := open(config, ParseURLs)
	return URLFile{f}, err
}

// OpenNetworks is OpenHosts for a list of networks (ParseNetworks).
func OpenNetworks(config Config) (NetworkFile, error) {
	f, err := open(config, ParseNetworks)
	return NetworkFile{f}, err
}

// Has is Hosts.Has of the content.
func (f HostFile) Has(host string, literal netip.Addr) bool { return f.Get().Has(host, literal) }

// Has is URLs.Has of the content.
func (f URLFile) Has(host string, literal netip.Addr, path, query string) bool {
	return f.Get().Has(host, literal, path, query)
}

// Has is Networks.Has of the content.
func (f NetworkFile) Has(addr netip.Addr) bool { return f.Get().Has(addr) }
