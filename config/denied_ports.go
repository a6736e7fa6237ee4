package config

import (
	"fmt"
	"slices"
)

// deniedPort is ports at which servers of other protocols than those of the gateways listen as a rule.
type deniedPort struct {
	first, last uint16
	service     string // a name of a service, or a program
}

// deniedPorts is the default of gateways.deny_ports: ports above 1023 of servers that take a line of text, or what may look
// like one, for a command or for data, as far as they are known: it cannot have every one. It is for the gateways alone, never
// for http. Where the rows are from:
//   - (Fetch): the bad ports of browsers, in the Fetch standard section 2.9;
//   - the names in lower case that Debian's /etc/services has, with Bacula, Quagga, NRPE, NSCA and Zabbix;
//   - the sources, the manual or clients of their program, which were looked up: Aerospike, Disque, Faktory, FRRouting, icap,
//     LCDproc, lircd, Livestatus, MySQL (33060, 33062), NSQ, policyd-weight, PulseAudio, TeamSpeak, Tokyo Tyrant and Kyoto Tycoon,
//     and the ports that Nmap excludes;
//   - the others from general knowledge of programs that are not registered, and of the registry of IANA. They were not looked
//     up one by one. Among them are known targets of requests that are forged on a server (SSRF), such as FastCGI.
//
// Ports at which servers of the gateways run without privileges are not among them: 2121 (ftp), 1070 and 7070 (gopher), 1119
// (news), 2100, 7090 and 9999 (Z39.50); nor are those of HTTP alone.
func deniedPorts() []deniedPort {
	return []deniedPort{
		{1025, 1025, "mailhog and other SMTP servers for tests"},
		{1080, 1080, "socks"},
		{1098, 1099, "rmiregistry, of Java"},
		{1234, 1234, "search agents, and the interface of VLC"},
		{1314, 1314, "festival, which runs commands in Scheme"},
		{1344, 1344, "icap (RFC 3507)"},
		{1352, 1352, "lotusnote"},
		{1414, 1414, "ibm-mqseries"},
		{1433, 1434, "ms-sql-s, ms-sql-m"},
		{1514, 1514, "syslog of Graylog and Wazuh"},
		{1521, 1527, "Oracle, and ingreslock"},
		{1666, 1666, "Perforce"},
		{1719, 1720, "h323gatestat, h323hostcall (Fetch)"},
		{1723, 1723, "pptp (Fetch)"},
		{1883, 1883, "mqtt"},
		{1935, 1935, "rtmp"},
		{1978, 1978, "Tokyo Tyrant, Kyoto Tycoon: the first takes the commands of memcached"},
		{1984, 1984, "Xymon, Big Brother"},
		{2003, 2004, "Graphite (carbon)"},
		{2013, 2014, "Graphite (carbon-relay)"},
		{2023, 2024, "Graphite (carbon-aggregator)"},
		{2049, 2049, "nfs (Fetch)"},
		{2181, 2181, "ZooKeeper: commands of four letters"},
		{2323, 2323, "telnet without privileges"},
		{2375, 2377, "docker"},
		{2379, 2380, "etcd"},
		{2401, 2401, "cvspserver"},
		{2525, 2526, "SMTP without privileges"},
		{2600, 2623, "Quagga and FRRouting, their terminals"},
		{2628, 2628, "dict"},
		{2638, 2638, "Sybase"},
		{2775, 2775, "smpp"},
		{2888, 2888, "ZooKeeper, among servers"},
		{2947, 2947, "gpsd"},
		{3003, 3003, "Aerospike: commands of one line"},
		{3050, 3050, "Firebird"},
		{3128, 3128, "Squid"},
		{3260, 3260, "iscsi-target"},
		{3268, 3269, "msft-gc, LDAP"},
		{3299, 3300, "SAProuter, Ceph"},
		{3306, 3306, "mysql"},
		{3310, 3310, "clamd"},
		{3389, 3389, "ms-wbt-server, RDP"},
		{3493, 3493, "nut: commands to power supplies"},
		{3632, 3632, "distcc, which runs commands"},
		{3659, 3659, "apple-sasl (Fetch)"},
		{3690, 3690, "svn"},
		{3888, 3888, "ZooKeeper, among servers"},
		{4045, 4045, "npp, lockd (Fetch)"},
		{4150, 4150, "NSQ: commands of one line"},
		{4155, 4155, "bzr"},
		{4160, 4160, "NSQ (nsqlookupd)"},
		{4190, 4190, "sieve (Fetch)"},
		{4212, 4212, "VLC by telnet"},
		{4222, 4222, "NATS"},
		{4242, 4242, "OpenTSDB"},
		{4321, 4321, "rwhois"},
		{4369, 4369, "epmd"},
		{4373, 4373, "remctl, which runs commands"},
		{4505, 4506, "Salt"},
		{4559, 4559, "hylafax"},
		{4712, 4712, "PulseAudio, its command line"},
		{4730, 4730, "gearman"},
		{4949, 4949, "munin"},
		{5037, 5038, "adb, Asterisk (AMI)"},
		{5044, 5044, "Logstash (beats)"},
		{5060, 5061, "sip (Fetch)"},
		{5140, 5140, "syslog without privileges"},
		{5170, 5170, "Fluentd (in_tcp)"},
		{5222, 5223, "xmpp-client, and the same by TLS, at a port that is of another service at IANA"},
		{5269, 5269, "xmpp-server"},
		{5347, 5347, "xmpp components"},
		{5432, 5433, "postgresql"},
		{5500, 5500, "VNC that waits for a server"},
		{5514, 5514, "syslog without privileges"},
		{5554, 5585, "Android: terminals of emulators, and adb"},
		{5666, 5667, "NRPE, NSCA"},
		{5671, 5672, "amqp"},
		{5701, 5703, "Hazelcast: the commands of memcached"},
		{5900, 5906, "rfb, VNC"},
		{5984, 5986, "CouchDB, WinRM"},
		{5999, 5999, "cvsup"},
		{6000, 6063, "x11 (Fetch has 6000)"},
		{6082, 6082, "Varnish, its terminal"},
		{6222, 6222, "NATS, among servers"},
		{6379, 6389, "redis"},
		{6432, 6432, "PgBouncer"},
		{6514, 6514, "syslog-tls"},
		{6557, 6557, "Livestatus: queries and commands of one line"},
		{6560, 6560, "speech-dispatcher"},
		{6566, 6566, "sane-port (Fetch)"},
		{6600, 6600, "mpd"},
		{6650, 6650, "Pulsar"},
		{6660, 6669, "irc (Fetch has 6665 to 6669)"},
		{6679, 6679, "irc by TLS (Fetch)"},
		{6697, 6697, "ircs-u (Fetch)"},
		{6789, 6789, "Ceph"},
		{7000, 7005, "Cassandra, Redis Cluster, irc"},
		{7077, 7077, "Spark"},
		{7100, 7100, "xfs, fonts of X11"},
		{7199, 7199, "Cassandra (JMX)"},
		{7419, 7419, "Faktory: commands of one line"},
		{7654, 7654, "I2P (I2CP)"},
		{7656, 7656, "I2P (SAM)"},
		{7687, 7687, "Neo4j (bolt)"},
		{7711, 7711, "Disque: the protocol of Redis"},
		{8009, 8009, "ajp"},
		{8021, 8021, "FreeSWITCH, its event socket"},
		{8086, 8089, "InfluxDB, Riak"},
		{8094, 8094, "Telegraf (socket_listener)"},
		{8125, 8126, "StatsD, and its commands"},
		{8300, 8302, "Consul, among servers"},
		{8500, 8500, "Consul"},
		{8554, 8554, "rtsp-alt"},
		{8600, 8600, "Consul (DNS)"},
		{8649, 8652, "Ganglia"},
		{8765, 8765, "lircd: commands of one line"},
		{8883, 8883, "secure-mqtt"},
		{9000, 9000, "FastCGI (PHP-FPM), ClickHouse"},
		{9003, 9003, "Xdebug"},
		{9009, 9009, "ClickHouse, among servers"},
		{9042, 9042, "Cassandra (CQL)"},
		{9050, 9051, "Tor, and its commands"},
		{9090, 9090, "Lyrion (Logitech) Media Server, its commands"},
		{9092, 9094, "Kafka"},
		{9100, 9107, "printers, which print what they get (Nmap asks nothing there), and Bacula (9101 to 9103)"},
		{9150, 9151, "Tor Browser, and its commands"},
		{9160, 9160, "Cassandra (Thrift)"},
		{9200, 9200, "Elasticsearch"},
		{9300, 9300, "Elasticsearch, among servers"},
		{9306, 9306, "Sphinx, Manticore: the protocol of MySQL"},
		{9312, 9312, "Sphinx, Manticore"},
		{9418, 9418, "git"},
		{9481, 9481, "Hyphanet (FCP)"},
		{10011, 10011, "TeamSpeak (ServerQuery): commands of one line"},
		{10023, 10026, "mail without privileges: postgrey, amavis, Postfix behind them"},
		{10030, 10031, "mail: policies of Postfix"},
		{10040, 10040, "postfwd: policies of Postfix"},
		{10050, 10051, "Zabbix"},
		{10080, 10080, "amanda (Fetch)"},
		{10389, 10389, "LDAP without privileges"},
		{10514, 10514, "syslog without privileges"},
		{11209, 11212, "Couchbase, memcached"},
		{11300, 11300, "beanstalkd"},
		{12201, 12201, "Graylog (GELF)"},
		{12345, 12345, "Dovecot (auth)"},
		{12525, 12525, "policyd-weight: policies of Postfix"},
		{13666, 13666, "LCDproc: commands of one line"},
		{16379, 16389, "Redis Cluster, among servers"},
		{16509, 16509, "libvirt"},
		{17000, 17005, "Redis Cluster, among servers"},
		{24007, 24007, "GlusterFS"},
		{24224, 24224, "Fluentd"},
		{25565, 25565, "Minecraft"},
		{25575, 25575, "Minecraft (RCON)"},
		{25672, 25672, "RabbitMQ, among servers"},
		{26379, 26379, "Redis Sentinel"},
		{27015, 27015, "Source (RCON)"},
		{27017, 27019, "MongoDB"},
		{28015, 28015, "RethinkDB"},
		{29015, 29015, "RethinkDB, among servers"},
		{33060, 33062, "MySQL: X Protocol, groups, administration"},
		{61613, 61616, "STOMP, OpenWire (ActiveMQ, RabbitMQ)"},
	}
}

// earlierDeniedPorts is the default of earlier versions, which copies of their example have.
const earlierDeniedPorts = "[1025 1433-1434 1521 1719-1720 1723 2049 2375-2376 2379-2380 2525 3128 3306 3659 4045 4190 4369 5060-5061 " +
	"5432 5672 5900-5906 5984 6000-6063 6379-6380 6566 6665-6669 6679 6697 8086 8125-8126 9042 9050-9051 9092 9100-9107 9200 9300 " +
	"10050-10051 10080 11211 26379 27017-27019]"

// warnOfDeniedPorts warns of a list that was copied, and not chosen.
func warnOfDeniedPorts(f *Faults, ports []PortRange) {
	isOfDefault := func(p PortRange) bool {
		return slices.ContainsFunc(deniedPortRanges(), func(d PortRange) bool { return p.First <= d.Last && d.First <= p.Last })
	}
	switch {
	case fmt.Sprint(ports) == earlierDeniedPorts:
		f.add("gateways.deny_ports", "is the default of an earlier version: delete the line, since the default has more")
	case len(ports) > 0 && !slices.ContainsFunc(ports, isOfDefault):
		f.add("gateways.deny_ports", "takes the place of the default, and has none of its ports: write these too, or delete the line")
	}
}

// deniedPortRanges returns the ports alone.
func deniedPortRanges() []PortRange {
	ports := []PortRange{}
	for _, p := range deniedPorts() {
		ports = append(ports, PortRange{First: p.first, Last: p.last})
	}
	return ports
}
