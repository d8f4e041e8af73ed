-- Asks for what stands in a file, over and over: a method, a path and the address it comes from in each line.
local requests, last = {}, 0

function init(args)
  for line in io.lines(args[1]) do
    local method, path, address = line:match('^(%S+) (%S+) (%S+)$')
    wrk.headers['X-Forwarded-For'] = address
    requests[#requests + 1] = wrk.format(method, path)
  end
end

function request()
  last = last % #requests + 1
  return requests[last]
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f,"refused":%d,"failed":%d}',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout
  ))
end
