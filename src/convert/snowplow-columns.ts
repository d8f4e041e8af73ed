/** The columns of the enriched TSV in their order, by the groups of the canonical event model. */
export const snowplowColumns = [
  ...columns('', 'app_id platform etl_tstamp collector_tstamp dvce_created_tstamp event event_id txn_id'),
  ...columns('', 'name_tracker v_tracker v_collector v_etl user_id user_ipaddress user_fingerprint'),
  ...columns('', 'domain_userid domain_sessionidx network_userid'),
  ...columns('geo_', 'country region city zipcode latitude longitude region_name'),
  ...columns('ip_', 'isp organization domain netspeed'),
  ...columns('page_', 'url title referrer urlscheme urlhost urlport urlpath urlquery urlfragment'),
  ...columns('refr_', 'urlscheme urlhost urlport urlpath urlquery urlfragment medium source term'),
  ...columns('mkt_', 'medium source term content campaign'),
  ...columns('', 'contexts se_category se_action se_label se_property se_value unstruct_event'),
  ...columns('tr_', 'orderid affiliation total tax shipping city state country'),
  ...columns('ti_', 'orderid sku name category price quantity'),
  ...columns('pp_', 'xoffset_min xoffset_max yoffset_min yoffset_max'),
  'useragent',
  ...columns('br_', 'name family version type renderengine lang'),
  ...columns('br_features_', 'pdf flash java director quicktime realplayer windowsmedia gears silverlight'),
  ...columns('br_', 'cookies colordepth viewwidth viewheight'),
  ...columns('os_', 'name family manufacturer timezone'),
  ...columns('dvce_', 'type ismobile screenwidth screenheight'),
  ...columns('doc_', 'charset width height'),
  ...columns('', 'tr_currency tr_total_base tr_tax_base tr_shipping_base ti_currency ti_price_base'),
  ...columns('', 'base_currency geo_timezone mkt_clickid mkt_network etl_tags dvce_sent_tstamp'),
  ...columns('', 'refr_domain_userid refr_device_tstamp derived_contexts domain_sessionid derived_tstamp'),
  ...columns('event_', 'vendor name format version fingerprint'),
  'true_tstamp',
]

function columns(prefix: string, names: string): readonly string[] {
  return names.split(' ').map((name) => `${prefix}${name}`)
}
