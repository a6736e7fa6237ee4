package squidconf

import (
	"slices"
	"strings"
)

// kind is what becomes of a directive.
type kind uint8

const (
	carried  kind = iota // a setting takes its place, by a function
	unneeded             // urnd needs no setting for it
	missing              // urnd does not do it
)

// row says what becomes of directives.
type row struct {
	names   string // directives, with spaces between them
	kind    kind
	instead string // what takes their place; why they are not needed; what to do where urnd has nothing
	convert func(*conversion, Directive)
}

// table has all directives that Squid 5.7 documents, as the command and the documentation show them.
func table() []row { return slices.Concat(carriedRows(), unneededRows(), missingRows()) }

// rows returns the table by directive.
func rows() map[string]row {
	all := make(map[string]row)
	for _, r := range table() {
		for name := range strings.FieldsSeq(r.names) {
			all[name] = r
		}
	}
	return all
}

// Table returns the table of directives in Markdown.
func Table() string {
	var all strings.Builder
	all.WriteString("| directive | urnd.yaml |\n|---|---|\n")
	for _, r := range table() {
		names := "`" + strings.Join(strings.Fields(r.names), "`, `") + "`"
		text := r.instead
		switch r.kind {
		case unneeded:
			text = "not needed: " + text
		case missing:
			text = "missing; instead: " + text
		}
		all.WriteString("| " + names + " | " + strings.ReplaceAll(text, "|", `\|`) + " |\n")
	}
	return all.String()
}

func nothing(*conversion, Directive) {} // it is read with others

func carriedRows() []row {
	return []row{
		{"acl", carried, "conditions of `proxy.rules`: `src`, `dst`, `dstdomain`, `port`, `proto`, `method`, `time`, `proxy_auth`, `any-of` and `all-of`; " +
			"`dstdom_regex`, `url_regex` and `urlpath_regex` that are exactly hosts, or beginnings of paths", nothing},
		{"http_access", carried, "`proxy.rules`, `access.proxy_clients` and, for `deny CONNECT !SSL_ports`, `proxy.connect_ports`", nothing},
		{"http_port", carried, "`listen.service`; `intercept`, `tproxy` and `ssl-bump`: missing", (*conversion).httpPort},
		{"https_port", carried, "`listen.tls`, `tls.certificate` and `tls.key`; `intercept`, `tproxy` and `ssl-bump`: missing", (*conversion).httpPort},
		{"auth_param", carried, "`access.proxy_users` for `basic_ncsa_auth` with hashes of bcrypt, and else `access.helpers`; digest, negotiate and NTLM: missing", nothing},
		{"cache_peer", carried, "`proxy.upstreams` for parents, `proxy.sites` for `originserver`; siblings, multicast and ICP: missing", (*conversion).cachePeer},
		{"cache_peer_access", carried, "`hosts` of `proxy.upstreams`, where it allows `dstdomain`", (*conversion).peerAccess},
		{"always_direct", carried, "`proxies: [direct]` of `proxy.upstreams`, where it allows `dstdomain`", (*conversion).alwaysDirect},
		{"never_direct", carried, "no `direct` in `proxies` of `proxy.upstreams`, for `allow all`", (*conversion).neverDirect},
		{"cache_mem", carried, "`cache.responses`", (*conversion).cacheMemory},
		{"maximum_object_size_in_memory", carried, "`cache.max_response`, at most an eighth of `cache.responses`", (*conversion).largestInMemory},
		{"cache_dir", carried, "`cache.disk`, for the sizes of all of them; the directory is one of urnd's own", (*conversion).cacheDirectory},
		{"cache", carried, "`cache.responses: 0B` for `deny all`; `cache` with `never` of `proxy.sites`, for sites", (*conversion).cacheAccess},
		{"refresh_pattern", carried, "`cache.heuristic_percent` and `cache.heuristic_max`, for the pattern `.`; others: `cache` of `proxy.sites`, for sites", (*conversion).refresh},
		{"access_log", carried, "`log.access`; UDP and TCP as Squid sends them, and logs by acl: missing", (*conversion).accessLog},
		{"external_acl_type", carried, "`access.helpers`, for `%LOGIN` and names of groups (`groups` of rules); others: missing", nothing},
		{"logformat", carried, "`format` of `log.access`, behind `squid:`", nothing},
		{"visible_hostname", carried, "`listen.names`", (*conversion).hostname},
		{"forwarded_for", carried, "`proxy.forwarded`", (*conversion).forwardedFor},
		{"via", carried, "Via is always sent (RFC 9110 section 7.6.3)", (*conversion).via},
		{"dns_nameservers", carried, "`dns.servers`", (*conversion).nameServers},
		{"request_header_max_size", carried, "`limits.header`", (*conversion).headerSize},
		{"client_ip_max_connections", carried, "`limits.client_connections`", (*conversion).clientConnections},
		{"connect_timeout", carried, "`limits.connect_timeout`", timeout("limits.connect_timeout", 1, 600)},
		{"read_timeout", carried, "`limits.origin_idle`", timeout("limits.origin_idle", 1, 86400)},
		{"write_timeout", carried, "`limits.write_timeout`", timeout("limits.write_timeout", 1, 86400)},
		{"request_timeout request_start_timeout", carried, "`limits.header_timeout`", timeout("limits.header_timeout", 1, 3600)},
		{"client_idle_pconn_timeout", carried, "`limits.idle_timeout`", timeout("limits.idle_timeout", 1, 86400)},
		{"shutdown_lifetime", carried, "`limits.shutdown_timeout`", timeout("limits.shutdown_timeout", 0, 3600)},
	}
}

func unneededRows() []row {
	no := func(names, why string) row { return row{names: names, kind: unneeded, instead: why} }
	return []row{
		no("include configuration_includes_quoted_values", "the command reads them"),
		no("pid_filename cache_effective_user cache_effective_group chroot umask", "the unit of systemd has the user, and what of the machine is seen"),
		no("coredump_dir", "urnd writes no core files; a crash is in the log"),
		no("hosts_file", "name servers are asked; give them the names of the file"),
		no("workers cpu_affinity_map shared_memory_locking memory_cache_shared hopeless_kid_revival_delay", "one process uses all processors"),
		no("max_filedescriptors max_open_disk_fds", "urnd raises its own limit, up to that of the unit"),
		no("memory_pools memory_pools_limit sleep_after_fork accept_filter tcp_recv_bufsize windows_ipaddrchangemonitor", "the runtime and the kernel see to it"),
		no("maximum_object_size minimum_object_size", "bodies of all sizes go to `cache.disk`"),
		no("cache_replacement_policy memory_replacement_policy memory_cache_mode store_dir_select_algorithm cache_swap_low cache_swap_high "+
			"store_avg_object_size store_objects_per_bucket cache_swap_state diskd_program unlinkd_program read_ahead_gap", "the caches decide by use"),
		no("quick_abort_min quick_abort_max quick_abort_pct range_offset_limit", "what 256 KiB are missing of is completed, and parts are stored"),
		no("collapsed_forwarding collapsed_forwarding_access shared_transient_entries_limit", "always on"),
		no("cache_log debug_options", "the log of the program is in the journal (`log.level`)"),
		no("logfile_rotate logfile_daemon buffered_logs", "`keep` of `log.access` has a file a day; for logrotate, the log is reopened on SIGHUP"),
		no("cache_store_log stats_collection client_db netdb_filename high_response_time_warning high_page_fault_warning high_memory_warning", "metrics say it"),
		no("log_mime_hdrs strip_query_terms mime_table", "`log.access` has its formats, and media types are built in"),
		no("pinger_enable pinger_program query_icmp test_reachability minimum_direct_hops minimum_direct_rtt netdb_low netdb_high netdb_ping_period",
			"no route is measured; `proxy.upstreams` say which way"),
		no("client_persistent_connections server_persistent_connections persistent_connection_after_error detect_broken_pconn half_closed_clients "+
			"server_idle_pconn_timeout pconn_lifetime pipeline_prefetch server_pconn_for_nonretriable", "connections are kept as RFC 9112 has it"),
		no("ipcache_size ipcache_low ipcache_high fqdncache_size positive_dns_ttl negative_dns_ttl", "answers of the DNS have their TTL, in `cache.records`"),
		no("dns_retransmit_interval dns_timeout dns_packet_max ignore_unknown_nameservers", "`dns.timeout` and `dns.rounds` have good defaults"),
		no("happy_eyeballs_connect_timeout happy_eyeballs_connect_gap happy_eyeballs_connect_limit connect_retries forward_max_tries forward_timeout "+
			"peer_connect_timeout dead_peer_timeout retry_on_error", "addresses and servers are tried by RFC 8305, and by `limits.connect_timeout`"),
		no("httpd_suppress_version_string cache_mgr mail_from mail_program unique_hostname", "pages of errors name neither the version nor a person"),
		no("icon_directory global_internal_static short_icon_urls err_page_stylesheet error_default_language error_log_languages email_err_data",
			"pages are built in, in five languages (`site`)"),
		no("http_upgrade_request_protocols force_request_body_continuation relaxed_header_parser request_entities check_hostnames allow_underscore uri_whitespace",
			"as RFC 9110 and RFC 9112 have it"),
		no("ftp_passive ftp_epsv ftp_epsv_all ftp_eprt ftp_sanitycheck ftp_telnet_protocol ftp_user", "ftp has passive connections and anonymous users ([gateways.md](gateways.md))"),
		no("cachemgr_passwd", "the admin interface has tokens (`access.admin_token`)"),
		no("authenticate_cache_garbage_interval authenticate_ttl authenticate_ip_ttl", "each request is verified"),
		no("reload_into_ims refresh_all_ims cache_miss_revalidate vary_ignore_expire minimum_expiry_time offline_mode max_stale refresh_stale_hit",
			"as RFC 9111 has it, with `cache.stale_for`"),
		no("broken_vary_encoding cache_vary error_map external_refresh_check location_rewrite_program dns_v4_first ie_refresh sslproxy_cafile "+
			"sslproxy_capath sslproxy_cipher sslproxy_client_certificate sslproxy_client_key sslproxy_flags sslproxy_options sslproxy_version hierarchy_stoplist "+
			"log_access log_icap ignore_ims_on_miss balance_on_multiple_ip chunked_request_body_max_size dns_v4_fallback emulate_httpd_log forward_log "+
			"ftp_list_width ignore_expect_100 log_fqdn log_ip_on_direct maximum_single_addr_tries referer_log update_headers url_rewrite_concurrency "+
			"useragent_log dns_testnames extension_methods zero_buffers incoming_rate server_http11 upgrade_http0.9 zph_local header_access "+
			"httpd_accel_no_pmtu_disc wais_relay_host wais_relay_port", "Squid 5 has it no more"),
		no("announce_period announce_host announce_file announce_port", "caches are announced nowhere"),
		no("incoming_udp_average incoming_tcp_average incoming_dns_average min_udp_poll_cnt min_dns_poll_cnt min_tcp_poll_cnt", "there is no loop to tune"),
		no("store_id_program store_id_children store_id_extras store_id_access store_id_bypass", "what is equivalent has one entry (`proxy.spelling`)"),
	}
}

func missingRows() []row {
	no := func(names, instead string) row { return row{names: names, kind: missing, instead: instead} }
	const (
		keep    = "Squid, alone or in `proxy.upstreams`"
		several = "`proxy.upstreams`, and `cache.shared` for several urnds"
	)
	return []row{
		no("cache_peer_domain neighbor_type_domain", "`hosts` of `proxy.upstreams`"),
		no("auth_schemes acl_uses_indirect_client", "Basic alone; rules are about the client that proxies of `access.trusted_proxies` name"),
		no("url_rewrite_program url_rewrite_children url_rewrite_host_header url_rewrite_access url_rewrite_bypass url_rewrite_extras url_rewrite_timeout",
			"nothing for `urnd helper`, as urnd does that itself; `proxy.rules` with `hosts_from` for filters"),
		no("ssl_bump sslproxy_session_ttl sslproxy_session_cache_size sslproxy_foreign_intermediate_certs sslproxy_cert_sign_hash sslproxy_cert_error "+
			"sslproxy_cert_sign sslproxy_cert_adapt sslpassword_program sslcrtd_program sslcrtd_children sslcrtvalidator_program sslcrtvalidator_children "+
			"on_unsupported_protocol", "rules about the host of a tunnel and the name in TLS (`client_hello`); "+keep),
		no("tls_outgoing_options ssl_unclean_shutdown ssl_engine", "`tls` of `proxy.upstreams` and `proxy.sites`"),
		no("icap_enable icap_connect_timeout icap_io_timeout icap_service_failure_limit icap_service_revival_delay icap_preview_enable icap_preview_size "+
			"icap_206_enable icap_default_options_ttl icap_persistent_connections icap_client_username_header icap_client_username_encode icap_service "+
			"icap_class icap_access icap_retry icap_retry_limit icap_log adaptation_send_client_ip adaptation_send_username adaptation_service_set "+
			"adaptation_service_chain adaptation_access adaptation_service_iteration_limit adaptation_masterx_shared_names adaptation_meta "+
			"adaptation_uses_indirect_client ecap_enable ecap_service loadable_modules adapted_http_access", keep),
		no("delay_pools delay_class delay_access delay_parameters delay_initial_bucket_level delay_pool_uses_indirect_client client_delay_pools "+
			"client_delay_initial_bucket_level client_delay_parameters client_delay_access response_delay_pool response_delay_pool_access",
			"`limits.rate` and `limits.client_share`"),
		no("wccp_router wccp2_router wccp_version wccp2_rebuild_wait wccp2_forwarding_method wccp2_return_method wccp2_assignment_method wccp2_service "+
			"wccp2_service_info wccp2_weight wccp_address wccp2_address tproxy_uses_indirect_client spoof_client_ip host_verify_strict client_dst_passthru",
			"`/proxy.pac`, by which browsers find the proxy (`proxy.pac_proxies`)"),
		no("snmp_port snmp_access snmp_incoming_address snmp_outgoing_address", "`/metrics` of the admin interface (`listen.admin`)"),
		no("icp_port icp_access icp_hit_stale icp_query_timeout maximum_icp_query_timeout minimum_icp_query_timeout background_ping_rate log_icp_queries "+
			"htcp_port htcp_access htcp_clr_access udp_incoming_address udp_outgoing_address mcast_groups mcast_miss_addr mcast_miss_ttl mcast_miss_port "+
			"mcast_miss_encode_key mcast_icp_query_timeout digest_generation digest_bits_per_entry digest_rebuild_period digest_rewrite_period "+
			"digest_swapout_chunk_size digest_rebuild_chunk_percentage", several),
		no("nonhierarchical_direct prefer_direct", "`direct` as the last of `proxies`"),
		no("ident_lookup_access ident_timeout", "`access.proxy_users`"),
		no("http_reply_access reply_body_max_size request_body_max_size reply_header_max_size client_request_buffer_max_size", keep),
		no("miss_access broken_posts send_hit store_miss negative_ttl", "`cache` of `proxy.sites`, for sites"),
		no("request_header_access reply_header_access request_header_replace reply_header_replace request_header_add reply_header_add note",
			"`request_set`, `request_remove`, `response_set` and `response_remove` of `proxy.sites`, for sites"),
		no("proxy_protocol_access", "`listen.proxy_protocol`"),
		no("follow_x_forwarded_for log_uses_indirect_client", "`access.trusted_proxies`"),
		no("ftp_port", "ftp URLs by the proxy ([gateways.md](gateways.md))"),
		no("tcp_outgoing_tos clientside_tos tcp_outgoing_mark mark_client_packet mark_client_connection qos_flows tcp_outgoing_address", "rules of the firewall"),
		no("client_lifetime ftp_client_idle_timeout", "`limits.tunnel_idle`, for what carries nothing"),
		no("client_netmask", "`log.access: off`"),
		no("hostname_aliases", "`listen.names`"),
		no("httpd_accel_surrogate_id http_accel_surrogate_remote", "`proxy.targeted`"),
		no("esi_parser", "Varnish in front of the site"),
		no("deny_info error_directory err_html_text", "`reason` of rules, and `site`"),
		no("append_domain dns_defnames dns_multicast_local", "whole names"),
		no("as_whois_server eui_lookup", "`clients` and `destinations`"),
	}
}
