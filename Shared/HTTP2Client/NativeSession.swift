internal import CNGHTTP2

/// nghttp2's side of one connection, as a client: bytes in, calls of ``SessionCallbacks``, bytes out.
struct NativeSession: ~Copyable {
    /// Says why nghttp2 gives a connection up.
    struct Fault: Error {
        let reason: String

        init(_ code: Int) { reason = String(cString: nghttp2_strerror(Int32(clamping: code))) }
    }

    /// How much a server may send ahead on the connection, in bytes: what little it sends shall never wait.
    private static let connectionWindow: Int32 = 16 * 1024 * 1024
    /// The window that the protocol begins with, in bytes.
    private static let initialWindow = 65_535

    private let pointer: OpaquePointer

    /// Makes a session whose first output is the protocol's preface; nil when there is no memory.
    init?(configuration: HTTP2ClientConfiguration) {
        guard let pointer = Self.makePointer(configuration) else { return nil }
        self.pointer = pointer
    }

    deinit { nghttp2_session_del(pointer) }

    private static func makePointer(_ configuration: HTTP2ClientConfiguration) -> OpaquePointer? {
        guard let callbacks = SessionCallbacks.make() else { return nil }
        defer { nghttp2_session_callbacks_del(callbacks) }
        var options: OpaquePointer?
        guard nghttp2_option_new(&options) == 0 else { return nil }
        defer { nghttp2_option_del(options) }
        // Streams that are closed are of no more use to a client.
        nghttp2_option_set_no_closed_streams(options, 1)
        var pointer: OpaquePointer?
        guard nghttp2_session_client_new2(&pointer, callbacks, nil, options) == 0 else { return nil }
        let settings = [
            setting(NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
            setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, max(initialWindow, configuration.responseBodyByteCountMax)),
            setting(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, configuration.responseHeadByteCountMax),
        ]
        let flags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        if nghttp2_submit_settings(pointer, flags, settings, settings.count) == 0,
            nghttp2_session_set_local_window_size(pointer, flags, 0, connectionWindow) == 0
        {
            return pointer
        }
        nghttp2_session_del(pointer)
        return nil
    }

    private static func setting(_ id: nghttp2_settings_id, _ value: Int) -> nghttp2_settings_entry {
        nghttp2_settings_entry(settings_id: Int32(id.rawValue), value: UInt32(clamping: value))
    }

    /// Names whom the callbacks are for; he must live until the session does not.
    func attach(_ connection: HTTP2Connection) {
        nghttp2_session_set_user_data(pointer, Unmanaged.passUnretained(connection).toOpaque())
    }

    /// How many streams the server allows at once.
    var remoteStreamsMax: Int {
        Int(nghttp2_session_get_remote_settings(pointer, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    /// Whether there is nothing more to come or to go.
    var isDone: Bool { nghttp2_session_want_read(pointer) == 0 && nghttp2_session_want_write(pointer) == 0 }

    /// Takes what came from the server.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
        let result = nghttp2_session_mem_recv(pointer, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        if result < 0 { throw Fault(result) }
    }

    /// Returns the next bytes for the server, or none; they stand until the next call.
    func nextOutput() throws(Fault) -> UnsafeRawBufferPointer {
        var bytes: UnsafePointer<UInt8>?
        let count = nghttp2_session_mem_send(pointer, &bytes)
        if count < 0 { throw Fault(count) }
        return UnsafeRawBufferPointer(start: bytes, count: count)
    }

    /// Opens a stream; its body, if it has one, is asked for by a callback.
    ///
    /// - Returns: The stream's number, or nil when this session opens no more.
    func open(_ fields: UnsafeMutableBufferPointer<nghttp2_nv>, hasBody: Bool, slot: Int) -> Int32? {
        let slot = SessionCallbacks.userData(slot: slot)
        let stream: Int32
        if hasBody {
            var body = SessionCallbacks.bodyProvider
            stream = nghttp2_submit_request(pointer, nil, fields.baseAddress, fields.count, &body, slot)
        } else {
            stream = nghttp2_submit_request(pointer, nil, fields.baseAddress, fields.count, nil, slot)
        }
        return stream > 0 ? stream : nil
    }

    /// Tells the server that nobody waits for a stream.
    func reset(_ stream: Int32) {
        nghttp2_submit_rst_stream(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, NGHTTP2_CANCEL.rawValue)
    }

    /// Asks the server for a sign of life.
    func ping() { nghttp2_submit_ping(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) }

    /// Takes leave of the server.
    func goAway() { nghttp2_session_terminate_session(pointer, NGHTTP2_NO_ERROR.rawValue) }
}
