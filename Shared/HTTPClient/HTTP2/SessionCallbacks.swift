internal import CNGHTTP2

/// nghttp2's callbacks, which forward to the connection of the session.
///
/// nghttp2 calls them only within `receive` and `nextOutput`: on the client's thread, and while the connection, which makes
/// these calls, exists.
enum SessionCallbacks {
    /// The callback by which nghttp2 fetches the bytes of a body.
    static var bodyProvider: nghttp2_data_provider {
        nghttp2_data_provider(source: nghttp2_data_source(ptr: nil)) { session, stream, buffer, capacity, flags, _, context in
            let room = UnsafeMutableRawBufferPointer(start: buffer, count: capacity)
            guard let context, let flags, let slot = SessionCallbacks.slot(session, stream),
                let piece = SessionCallbacks.connection(context).readBody(slot: slot, into: room)
            else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
            if piece.isLast { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
            return piece.byteCount
        }
    }

    /// Encodes a slot as the user data of a stream: slot + 1, because 0 means no user data.
    static func userData(slot: Int) -> UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: slot + 1) }

    /// Makes the callback table of a session; the caller frees it.
    static func make() -> OpaquePointer? {
        var callbacks: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else { return nil }
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { session, frame, context in
            guard let context, let frame else { return 0 }
            SessionCallbacks.connection(context).headBegan(
                slot: SessionCallbacks.slot(session, hg_frame_head(frame).pointee.stream_id))
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, _, name, nameCount, value, valueCount, _, context in
            guard let context else { return 0 }
            SessionCallbacks.connection(context).headerReceived(
                name: UnsafeBufferPointer(start: name, count: nameCount),
                value: UnsafeBufferPointer(start: value, count: valueCount))
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { session, _, stream, bytes, count, context in
            guard let context, let slot = SessionCallbacks.slot(session, stream) else { return 0 }
            SessionCallbacks.connection(context).bodyReceived(slot: slot, UnsafeBufferPointer(start: bytes, count: count))
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { session, stream, code, context in
            guard let context, let slot = SessionCallbacks.slot(session, stream) else { return 0 }
            let isComplete = nghttp2_session_get_stream_remote_close(session, stream) == 1
            SessionCallbacks.connection(context).streamClosed(slot: slot, code: code, isComplete: isComplete)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, context in
            guard let context, let frame else { return 0 }
            let head = hg_frame_head(frame).pointee
            switch UInt32(head.type) {
            case NGHTTP2_SETTINGS.rawValue: SessionCallbacks.connection(context).settingsReceived()
            case NGHTTP2_GOAWAY.rawValue: SessionCallbacks.connection(context).goAwayReceived(code: frame.pointee.goaway.error_code)
            default: break
            }
            return 0
        }
        return callbacks
    }

    private static func connection(_ context: UnsafeMutableRawPointer) -> HTTP2Connection {
        Unmanaged<HTTP2Connection>.fromOpaque(context).takeUnretainedValue()
    }

    /// Returns the slot of a stream; nil when it is closed, or not opened by this client.
    static func slot(_ session: OpaquePointer?, _ stream: Int32) -> Int? {
        nghttp2_session_get_stream_user_data(session, stream).map { Int(bitPattern: $0) - 1 }
    }
}
