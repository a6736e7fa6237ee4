package list

import "net/netip"

// HostFile is a File with a list of hosts.
type HostFile struct{ *File[*Hosts] }

// URLFile is a File with a list of URLs.
type URLFile struct{ *File[*URLs] }

// NetworkFile is a File with a list of networks.
type NetworkFile struct{ *File[*Networks] }

// OpenHosts reads a list of hosts (ParseHosts) from a file. It starts no goroutine. A missing, empty or unreadable
// file is an error: a denying rule that uses it would have no effect. A file with comments only is an empty list.
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

// Has is Hosts.Has of the current content.
func (f HostFile) Has(host string, literal netip.Addr) bool { return f.Get().Has(host, literal) }

// Has is URLs.Has of the current content.
func (f URLFile) Has(host string, literal netip.Addr, path, query string) bool {
	return f.Get().Has(host, literal, path, query)
}

// Has is Networks.Has of the current content.
func (f NetworkFile) Has(addr netip.Addr) bool { return f.Get().Has(addr) }
