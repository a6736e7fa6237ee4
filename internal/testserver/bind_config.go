package testserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Zone is a DNS zone. Text is in master file format (RFC 1035 section 5) with Name as the origin.
type Zone struct {
	Name, Text string
}

const (
	bindConfigFile = "named.conf"
	bindOutputFile = "named.log"
	bindQueryFile  = "queries.log"
)

// bindOptions permits several servers side by side, and beside a DNS server of the machine: they use no files
// outside the working directory and only listen for DNS.
//
// Without "reuseport no" two servers could unknowingly share a TCP port.
const bindOptions = `options {
	listen-on port %d { 127.0.0.1; };
	listen-on-v6 { none; };
	reuseport no;
	recursion no;
	notify no;
	dnssec-validation no;
	automatic-interface-scan no;
	interface-interval 0;
	pid-file none;
	session-keyfile none;
	lock-file none;
	querylog yes;
};
controls { };
logging {
	channel queries {
		file "` + bindQueryFile + `";
		severity info;
		print-time no;
		print-category no;
		print-severity no;
		buffered no;
	};
	category queries { queries; };
};
`

// writeBINDConfig writes the configuration and the zones of a server into its
// working directory.
func writeBINDConfig(dir string, port uint16, zones []Zone) error {
	var config strings.Builder
	fmt.Fprintf(&config, bindOptions, port)
	for i, zone := range zones {
		if zone.Name == "" {
			return errors.New("zone: no name")
		}
		if _, err := packQuery(0, zone.Name, typeSOA); err != nil {
			return fmt.Errorf("zone: %w", err)
		}
		// The name is not a file name: it may contain a slash (RFC 2317).
		file := fmt.Sprintf("zone.%d", i)
		fmt.Fprintf(&config, "zone \"%s\" { type primary; file \"%s\"; };\n", zone.Name, file)
		if err := os.WriteFile(filepath.Join(dir, file), []byte(zone.Text), 0o600); err != nil {
			return fmt.Errorf("zone %s: %w", zone.Name, err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, bindConfigFile), []byte(config.String()), 0o600); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	return nil
}

// checkBINDConfig has BIND check the configuration and load every zone: a server
// would start without a zone that it cannot read.
func checkBINDConfig(t testing.TB, dir string) error {
	t.Helper()
	check := exec.CommandContext(t.Context(), Need(t, "named-checkconf"), "-z", bindConfigFile)
	check.Dir = dir
	if output, err := check.CombinedOutput(); err != nil {
		return fmt.Errorf("named-checkconf: %w\n%s", err, output)
	}
	return nil
}
