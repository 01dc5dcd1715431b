package import Hummingbird
package import NIOCore

/// The context of a request: the channel it arrived on, so that faults can close it.
package struct EmulatorContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The channel of the request.
    package let channel: any Channel

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        channel = source.channel
    }

    /// The connection the request arrived on; under HTTP/2 the channel of a request is only a stream of it.
    ///
    /// Each chain of parents ends at the listening socket, whose child is the connection.
    package var connection: any Channel {
        var channel = channel
        while let parent = channel.parent, parent.parent != nil { channel = parent }
        return channel
    }
}
