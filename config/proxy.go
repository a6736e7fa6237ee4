package config

import (
	"net"
	"strconv"
	"strings"
)

func checkPAC(f *Faults, path string, value any) {
	addresses, _ := value.([]string)
	checkAddresses(f, path, addresses, "https://", "proxy.example.org:8141", "proxy.example.org:8141")
}

// checkAddresses checks hosts with ports, with or without a prefix; sample is one without, and behindPrefix what follows it.
func checkAddresses(f *Faults, path string, addresses []string, prefix, sample, behindPrefix string) {
	for i, address := range addresses {
		if strings.Contains(address, "@") {
			f.Add(index(path, i), hasUserinfo)
			continue
		}
		host, port, err := net.SplitHostPort(strings.TrimPrefix(address, prefix))
		if n, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil || n == 0 || !isHost(host) {
			help := writeAddress(address, sample)
			if strings.HasPrefix(address, prefix) {
				help = strings.Replace(writeAddress(address, behindPrefix), "write ", "write "+prefix, 1)
			}
			f.Add(index(path, i), "%q is not host:port%s", address, help)
		}
	}
}

func checkPACDirect(f *Faults, path string, value any) {
	hosts, _ := value.([]string)
	for i, host := range hosts {
		if !isHost(strings.TrimPrefix(host, ".")) {
			f.Add(index(path, i), "%q is not a host such as www.example.org or .example.org%s", host,
				writeHost(host, "write ."+strings.TrimLeft(host, "*.")))
		}
	}
}

// isHost reports whether a text is a domain name or an IP address.
func isHost(s string) bool {
	return isDomain(s) || net.ParseIP(s) != nil
}

func checkTargeted(f *Faults, path string, value any) {
	names, _ := value.([]string)
	for i, name := range names {
		if name == "" || strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			f.Add(index(path, i), "%q is not the name of a field such as CDN-Cache-Control", name)
		}
	}
}
