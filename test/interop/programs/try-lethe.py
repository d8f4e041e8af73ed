"""Reads, pages, waits after a 429 and erases, with requests or the standard library of Python."""

import json
import os
import time
import urllib.error
import urllib.request

try:
    import requests
except ImportError:
    requests = None

url = os.environ["LETHE_URL"] + "/v1/analytics/trackers/sample-shop/subjects"
headers = {"Authorization": "Bearer " + os.environ["LETHE_API_KEY"]}


def send(method, address):
    if requests:
        response = requests.request(method, address, headers=headers, timeout=60)
        return response.status_code, response.headers, response.json()
    request = urllib.request.Request(address, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, response.headers, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, error.headers, json.load(error)


refusals = 0


def patient(method, address):
    """Waits as long as Retry-After requires, and retries."""
    global refusals
    status, received, body = send(method, address)
    while status == 429:
        refusals += 1
        assert body["error"]["code"] == "rate_limited"
        time.sleep(int(received["Retry-After"]))
        status, received, body = send(method, address)
    assert status == 200, body
    return body["data"]


print("with", "requests" if requests else "urllib")
print("read", patient("GET", url + "/visitor-61920061")["subjectId"])
page = patient("GET", url + "?limit=5")
print("page", len(page["subjects"]), page["nextCursor"] is not None)
while refusals == 0:
    patient("GET", url + "/visitor-61920061")
print("refusals", refusals)
print("erased", patient("DELETE", url + "/visitor-18340075")["counts"]["events"])
