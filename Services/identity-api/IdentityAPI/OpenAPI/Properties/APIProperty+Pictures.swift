internal import JSON

extension APIProperty {
    /// Pictures that are made with AI.
    static let pictures: [String: APIProperty] = [
        "templates": .init("What pictures can be made"),
        "listTemplates.id": .init("The `template_id` of orders", "vintage"),
        "listTemplates.name": .init("The name to show", "Vintage"),
        "listTemplates.description": .init("What becomes of a photo", "Faded colours and grain"),
        "preview": .init("The address of a sample; null for none", .null),
        "template_id": .init("What to make, as `GET /v1/templates` lists it", "vintage"),
        "image_base64": .init("The picture in base64, bare or as a data URI; needed in JSON", greyPicture),
        "image": .init("The picture; needed in a form"),
        "device_token": .init("The push token of the phone that gets the result", pushToken),
        "options": .init("How the picture is made"),
        "width": .init("Pixels across", 1_024),
        "height": .init("Pixels down", 768),
        "quality": .init("`low`, `medium` or `high`; anything else is medium", "medium"),
        "async": .init("False to wait for the picture in the answer", true),
        "job_id": .init("The job", "5f0c1e7a-9b3d-4c2e-8a6f-1d2b3c4e5f60"),
        "estimated_time_seconds": .init("Seconds that such a picture usually takes", 15),
        "processed_image_base64": .init("The picture as a data URI", "data:image/jpeg;base64,/9j/4AAQSkZJRg=="),
        "image_url": .init(
            "The signed address of the picture, for a while",
            "https://api.example.org/media/images/5f0c1e7a-9b3d-4c2e-8a6f-1d2b3c4e5f60/result-1.jpg?exp=1761645600&sig=q1W2e3R4t5Y6"),
        "thumbnail_url": .init(
            "The signed address of a small one",
            "https://api.example.org/media/images/5f0c1e7a-9b3d-4c2e-8a6f-1d2b3c4e5f60/thumbnail-1.jpg?exp=1761645600&sig=q1W2e3R4t5Y6"),
        "result": .init("The picture of a job that has ended well"),
        "metadata": .init("How the picture was made"),
        "modelUsed": .init("The generator", "local"),
        "generationTimeMs": .init("Milliseconds that it took", 2_300),
        "originalDimensions": .init("The size of the picture that was sent"),
        "processedDimensions": .init("The size of the result"),
        "templateId": .init("The template", "vintage"),
        "templateName": .init("The template's name", "Vintage"),
        "attempts": .init("Calls of the generator so far", 1),
        "jobs": .init("The jobs, newest first"),
        "jobs.status": .init("How far it is", "completed"),
        "listJobs.next_cursor": .init("The `cursor` of the next page; missing on the last one", "MTc2MTU2MjgwMC41ZjBjMWU3YQ"),
        "getJob.error.code": .init("The name of the failure", "content_blocked"),
        "orderPicture.error.code": .init("The name of the failure", "content_blocked"),
        "photo": .init("The photo"),
        "photo_id": .init("The photo", "2e7d6c5b-4a39-4281-9706-f5e4d3c2b1a0"),
    ]

    /// A grey picture of 64 by 48 pixels, as a PNG.
    static let greyPicture: JSONValue = .string(
        "data:image/png;base64,"
            + "iVBORw0KGgoAAAANSUhEUgAAAEAAAAAwCAAAAACEICPDAAAAJUlEQVR42u3MQREAAAwCIKMb3RD77SAA6VEEAoFAIBAIBALB12AwvgBbYhXmNQAAAABJRU5ErkJg"
            + "gg==")
}
