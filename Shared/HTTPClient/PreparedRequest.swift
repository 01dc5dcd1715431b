internal import CLibCurl

/// A request that is made again and again with another body: checked once, its header lines written once.
///
/// Sendable is unchecked: the list is made in `init` and only freed in `deinit`, and libcurl reads header lists only.
public final class PreparedRequest: @unchecked Sendable {
    /// What is sent, but for the body.
    public let request: HTTPClientRequest
    let headerList: UnsafeMutablePointer<curl_slist>?

    /// Prepares a request of a method that has a body: POST, PUT or PATCH. A body in it is left out of account.
    ///
    /// - Throws: `invalidRequest` when nobody could send it.
    public init(_ request: HTTPClientRequest) throws(HTTPClientError) {
        if let fault = request.fault { throw HTTPClientError(.invalidRequest, mayHaveReachedServer: false, fault) }
        guard ["POST", "PUT", "PATCH"].contains(request.method) else {
            throw HTTPClientError(.invalidRequest, mayHaveReachedServer: false, "only POST, PUT and PATCH can be prepared")
        }
        self.request = request
        headerList = request.makeHeaderList()
    }

    deinit { curl_slist_free_all(headerList) }
}

extension HTTPClientRequest {
    /// The header lines as libcurl wants them; whoever calls frees them.
    func makeHeaderList() -> UnsafeMutablePointer<curl_slist>? {
        var lines: [String] = []
        if awsSignature == nil {
            // Without these lines libcurl adds headers of its own; with them it would sign what it does not send.
            lines.append("Expect:")
            let names = Set(headers.map { $0.name.lowercased() })
            if !names.contains("content-type") { lines.append("Content-Type:") }
            if !names.contains("accept") { lines.append("Accept: */*") }
        }
        lines += headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines { list = curl_slist_append(list, line) }
        return list
    }
}
